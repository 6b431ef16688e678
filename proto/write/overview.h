/* An overview of a distance matrix, or of a block of it: a grid of cells, each with the minimum,
 * mean and maximum of its finite distances and the fraction of unreachable distances. The diagonal
 * is included. The work is bounded: a matrix of more than OVERVIEW_ELEMENTS elements is sampled. A
 * sample has at least one row of each cell; its rows are evenly spread and always the same. Pure
 * functions on plain values. */
#pragma once

#include "proto/kind.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of cells along an edge of the grid. */
#define OVERVIEW_CELLS 256
/* Limits on the number of elements examined and on the bytes of the rows that contain them, so that
 * an overview takes at most tens of milliseconds if the matrix is in memory. */
#define OVERVIEW_ELEMENTS (UINT64_C(1) << 24)
#define OVERVIEW_SPAN_BYTES (UINT64_C(256) << 20)

/* One axis of the grid. Cell i covers [first + i * count / cells, first + (i + 1) * count /
 * cells). */
struct overview_axis {
    uint32_t first;
    uint32_t count;
    uint32_t cells;
};

struct overview {
    enum kind kind;
    struct overview_axis rows;
    struct overview_axis columns;
    uint32_t row_limit; /* maximum number of rows examined in each cell */
};

struct overview_cell {
    uint64_t elements; /* number of elements examined */
    uint64_t finite;   /* number of finite elements among them */
    double least;      /* least finite distance; meaningless if finite is 0 */
    double largest;
    double sum;
};

/* Plans the overview of the block of these rows and columns, with at most `cells` cells along an
 * edge (1 to OVERVIEW_CELLS). */
struct overview overview_plan(enum kind kind, struct overview_axis rows,
                              struct overview_axis columns, uint32_t cells);
/* Returns whether some elements are not examined. */
bool overview_is_sample(const struct overview *overview);
/* Returns the first row or column of a cell; for cell number `cells`, the end of the axis. */
uint32_t overview_begin(const struct overview_axis *axis, uint32_t cell);
/* overview_looks returns the number of rows examined for one row of cells, overview_vertex the
 * vertex of one of these rows. */
uint32_t overview_looks(const struct overview *overview, uint32_t cell_row);
uint32_t overview_vertex(const struct overview *overview, uint32_t cell_row, uint32_t look);
/* Adds the distances of one row to the cells of the row of cells to which it belongs. */
void overview_add(const struct overview *overview, const void *distances,
                  struct overview_cell *cells);
uint64_t overview_rows(const struct overview *overview);
