/* Some rows and columns of a matrix of distances, as an answer has them, and its binary forms.
 * Borrows everything; a plain value. */
#pragma once

#include "proto/kind.h"
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
    /* The distances from one vertex to all, elements of the kind; NULL when they cannot be read. */
    const void *(*row)(const void *context, uint32_t row);
    const void *context;
};

static inline uint32_t axis_at(const struct axis *axis, uint32_t index)
{
    return axis->list != NULL ? axis->list[index] : axis->first + index;
}

/* Rows times columns; they never overflow. */
uint64_t grid_cells(const struct grid *grid);

/* The elements row by row without a header, as `as`, which is the grid's kind or i4 for one of u2:
 * their bytes, and any part of them. STATUS_CORRUPT for a row that cannot be read. */
MUST_CHECK enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes);
MUST_CHECK enum status grid_copy(const struct grid *grid, enum kind as, uint64_t offset,
                                 size_t size, void *to);
