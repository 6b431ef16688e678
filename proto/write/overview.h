/* An overview of a distance matrix, or of a block of it: a grid of cells, each with the least, mean
 * and largest of its finite distances and the share of unreachable ones. Distances of vertices to
 * themselves count.
 *
 * The work is bounded: a matrix of more than OVERVIEW_ELEMENTS is sampled. A sample has some rows
 * of each cell, evenly spread and always the same, but at least one. Pure functions on plain
 * values. */
#pragma once

#include "proto/kind.h"

#include <stdbool.h>
#include <stdint.h>

/* Largest number of cells along an edge of the grid. */
#define OVERVIEW_CELLS 256
/* Limits on the elements examined and on the bytes of the rows that contain them: some tens of
 * milliseconds if the matrix is in memory. */
#define OVERVIEW_ELEMENTS (UINT64_C(1) << 24)
#define OVERVIEW_SPAN_BYTES (UINT64_C(256) << 20)

/* One axis. Cell i covers [first + i * count / cells, first + (i + 1) * count / cells). */
struct overview_axis {
    uint32_t first;
    uint32_t count;
    uint32_t cells;
};

struct overview {
    enum kind kind;
    struct overview_axis rows;
    struct overview_axis columns;
    uint32_t row_limit; /* rows examined in each cell */
};

struct overview_cell {
    uint64_t elements; /* elements examined */
    uint64_t finite;   /* finite elements among them */
    double least;      /* least finite distance, if there is one */
    double largest;
    double sum;
};

/* Plans the overview of the block of these rows and columns, with at most `cells` cells along an
 * edge (1 to OVERVIEW_CELLS). */
struct overview overview_plan(enum kind kind, struct overview_axis rows,
                              struct overview_axis columns, uint32_t cells);
/* Returns whether some elements are not examined. */
bool overview_is_sample(const struct overview *overview);
/* Returns the first row or column of a cell; the end of the axis for cell number `cells`. */
uint32_t overview_begin(const struct overview_axis *axis, uint32_t cell);
/* overview_looks: rows examined for one row of cells. overview_vertex: the vertex of one of them.
 */
uint32_t overview_looks(const struct overview *overview, uint32_t cell_row);
uint32_t overview_vertex(const struct overview *overview, uint32_t cell_row, uint32_t look);
/* Adds an examined row to the columns.cells cells of its row of cells. distances: the row. */
void overview_add(const struct overview *overview, const void *distances,
                  struct overview_cell *cells);
/* Total number of rows examined. */
uint64_t overview_rows(const struct overview *overview);
