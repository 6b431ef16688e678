/* Some rows and columns of a matrix of distances, as an answer has them, in binary and as text:
 * JSON, CSV, NDJSON and Matrix Market, piece by piece with bounded memory. Borrows everything; a
 * plain value. */
#pragma once

#include "proto/kind.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* Which rows, or columns, in the order of the answer; they may repeat. */
struct axis {
    const uint32_t *list; /* count of them, or NULL: first, first + 1, ... */
    uint32_t first;
    uint32_t count;
};

struct grid {
    enum kind kind;
    const struct vertex_names *names;
    struct axis rows;
    struct axis columns;
    struct axis cells; /* where the cells of a row lie in its elements */
    /* The elements of the row at this index of the axis, until the next call; NULL: not yet. Of
     * GRID_MTX the column, and the cells are those of a column. */
    enum status (*row)(void *context, uint32_t index, const void **ret_elements);
    void *context;
};

static inline uint32_t axis_at(const struct axis *axis, uint32_t index)
{
    return axis->list != NULL ? axis->list[index] : axis->first + index;
}

/* The elements row by row without a header, as `as`, which is the grid's kind or i4 for one of u2:
 * their bytes. STATUS_TOO_LARGE. */
MUST_CHECK enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes);
/* Any part of them: at most `size` bytes, those of one row, and none of a row that is not there
 * yet. */
MUST_CHECK enum status grid_copy(const struct grid *grid, enum kind as, uint64_t offset,
                                 size_t size, void *to, size_t *ret_size);

enum grid_form {
    GRID_JSON,      /* {"sources":[..],"destinations":[..],"distances":[[..],..]} */
    GRID_TABLE,     /* the same with "code":"Ok" in front, as OSRM has it */
    GRID_ROW,       /* of one row: {"source":s,"destinations":[..],"distances":[..]} */
    GRID_COLUMN,    /* of one column: {"destination":d,"sources":[..],"distances":[..]} */
    GRID_CSV,       /* a line a row; an unreachable one is an empty field */
    GRID_CSV_NAMED, /* the same with a first line and a first field of names */
    GRID_NDJSON,    /* a line a row: [d,d,null,..] */
    GRID_MTX        /* array, column by column; an unreachable one is inf, of the field real */
};

struct grid_text {
    struct grid grid;
    enum grid_form form;
    bool has_unreachable; /* or may have: what the head of mtx depends on */
    unsigned part;        /* of the form, from 0 */
    uint64_t position;    /* in the part */
};

/* Appends the next piece, some KiB, or nothing yet; false when that was the last. */
bool grid_text_next(struct grid_text *writer, struct text *text);
