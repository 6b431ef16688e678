/* Writes selected rows and columns of a distance matrix as raw bytes or as text (JSON, CSV, NDJSON,
 * Matrix Market), piece by piece with bounded memory. A struct grid is a plain value that borrows
 * everything; one thread at a time uses it. */
#pragma once

#include "proto/kind.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* The rows or columns of the grid, in the order of the response; they may repeat. */
struct axis {
    const uint32_t *list; /* `count` indexes; NULL: first, first + 1, ... */
    uint32_t first;
    uint32_t count;
};

struct grid {
    enum kind kind;
    const struct vertex_names *names;
    struct axis rows;
    struct axis columns;
    struct axis cells; /* index of each column's cell in the elements of a row */
    /* Returns the elements of the row with this index in `rows`, valid until the next call; NULL if
     * it is not available yet. For GRID_MTX, returns the column with this index. */
    enum status (*row)(void *context, uint32_t index, const void **ret_elements);
    void *context;
};

static inline uint32_t axis_at(const struct axis *axis, uint32_t index)
{
    return axis->list != NULL ? axis->list[index] : axis->first + index;
}

/* Computes the size in bytes of all elements, without a header, in kind `as`: the grid's kind, or
 * i4 for a grid of u2. STATUS_TOO_LARGE on overflow. */
MUST_CHECK enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes);
/* Copies at most `size` bytes of one row from an offset; 0 bytes while the row is not available. */
MUST_CHECK enum status grid_copy(const struct grid *grid, enum kind as, uint64_t offset,
                                 size_t size, void *to, size_t *ret_size);

enum grid_form {
    GRID_JSON,      /* an object: {"sources":[..],"destinations":[..],"distances":[[..],..]} */
    GRID_TABLE,     /* GRID_JSON preceded by "code":"Ok", as OSRM writes it */
    GRID_ROW,       /* one row: {"source":s,"destinations":[..],"distances":[..]} */
    GRID_COLUMN,    /* one column: {"destination":d,"sources":[..],"distances":[..]} */
    GRID_CSV,       /* a line per row; an unreachable distance is an empty field */
    GRID_CSV_NAMED, /* GRID_CSV with names in the first line and in the first field of each line */
    GRID_NDJSON,    /* a line per row: [d,d,null,..] */
    GRID_MTX /* Matrix Market array, column by column; unreachable is inf, in a matrix of field real
              */
};

struct grid_text {
    struct grid grid;
    enum grid_form form;
    bool has_unreachable; /* some distance may be unreachable, so Matrix Market needs field real */
    unsigned part;        /* current part of the form: enum part of grid.c */
    uint64_t position;    /* index of the next item in the part */
};

/* Appends the next few KiB, or nothing while a row is not available. Returns false at the end. */
bool grid_text_next(struct grid_text *writer, struct text *text);
