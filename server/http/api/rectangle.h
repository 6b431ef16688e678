/* Reads a rectangle of distances: some rows and some columns of a result.
 *
 * The rows of a matrix lie in its file, and columns are gathered from them. Distances of a
 * hierarchy are computed in steps: pair by pair for a small rectangle; for a narrow one by columns
 * (rows of the reversed graph), which are transposed into rows a strip at a time; otherwise by
 * rows. The choice depends on the rectangle alone, because float sums of different methods may
 * differ in the last digit, and an answer must be reproducible. A rectangle is used by one thread
 * at a time. */
#pragma once

#include "proto/write/grid.h"
#include "server/store/result.h"

struct rectangle {
    const struct result *result; /* borrowed, like the lists of both axes */
    struct axis rows;
    struct axis columns;
    struct axis cells;        /* positions of the selected cells in a row from rectangle_row */
    struct result_rows swept; /* rows of a hierarchy or of its reversed graph */
    /* Buffer of transposed rows, or of one row computed pair by pair; NULL: the rectangle is read
     * by rows. */
    char *strip;
    uint32_t strip_first; /* index of the strip's first row */
    uint32_t strip_rows;  /* rows of a full strip */
    size_t strip_done;    /* number of columns, or pairs, computed so far */
    uint32_t *pairs;      /* pairs of the current row; NULL: computed by columns */
};

/* Opens a rectangle to be read by rows. Fails with STATUS_NO_MEMORY. */
MUST_CHECK enum status rectangle_open(struct rectangle *rectangle, const struct result *result,
                                      const struct axis *rows, const struct axis *columns);
/* Opens a rectangle to be read by columns: rectangle_row then returns the column at an index of the
 * column axis, and the cell of row i is element axis_at(&cells, i). */
MUST_CHECK enum status rectangle_open_columns(struct rectangle *rectangle,
                                              const struct result *result, const struct axis *rows,
                                              const struct axis *columns);
/* Closes a rectangle. Accepts a zeroed rectangle. */
void rectangle_close(struct rectangle *rectangle);
/* Finds the row of the rectangle `context` at this index of the row axis. The row is valid until
 * the next call; its cell of column j is element axis_at(&cells, j). *ret_elements is NULL if the
 * row is not complete yet: call again for the same row. A call takes about a millisecond. Fails
 * with STATUS_CORRUPT or STATUS_NO_MEMORY. */
MUST_CHECK enum status rectangle_row(void *context, uint32_t index, const void **ret_elements);
