/* The one reader of a rectangle of distances: some rows and some columns of a result.
 *
 * The rows of a matrix lie in its file, and its columns are gathered from them. Those of a
 * hierarchy are computed, in steps. A small rectangle is computed pair by pair; of a narrow one the
 * columns are computed (rows of the reversed graph) and turned into rows a strip at a time. The
 * rectangle alone decides which: sums of floats may differ in their last digit, and an answer must
 * be the same each time. */
#pragma once

#include "proto/write/grid.h"
#include "server/store/result.h"

struct rectangle {
    const struct result *result; /* borrowed, as are the lists of both axes */
    struct axis rows;
    struct axis columns;
    struct axis cells;        /* where the cells of a row lie in its elements */
    struct result_rows swept; /* of a hierarchy, by rows or by columns */
    /* By columns a strip of rows, pair by pair one row at a time; NULL: by rows. */
    char *strip;
    uint32_t strip_first; /* the index of the first row */
    uint32_t strip_rows;  /* at most */
    size_t strip_done;    /* columns that are complete; pairs */
    uint32_t *pairs;      /* of the row in hand; NULL: by columns */
};

/* STATUS_NO_MEMORY. */
MUST_CHECK enum status rectangle_open(struct rectangle *rectangle, const struct result *result,
                                      const struct axis *rows, const struct axis *columns);
/* Opens the columns: rectangle_row then has the column at this index of their axis, whose cell of
 * row i is element axis_at(&cells, i). */
MUST_CHECK enum status rectangle_open_columns(struct rectangle *rectangle,
                                              const struct result *result, const struct axis *rows,
                                              const struct axis *columns);
/* A zeroed one is closed. */
void rectangle_close(struct rectangle *rectangle);
/* The row at this index of the axis, until the next call; the cell of column j is element
 * axis_at(&cells, j). NULL: it takes another call for the same row, as one takes about a
 * millisecond. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status rectangle_row(struct rectangle *rectangle, uint32_t index,
                                     const void **ret_elements);
