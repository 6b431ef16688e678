/* A matrix of distances, or a block of it, seen from afar: a grid of cells, each with the least,
 * the mean and the largest of its finite distances and the share of the others. The distances of
 * vertices to themselves are among them.
 *
 * Looking is bounded: beyond OVERVIEW_ELEMENTS a cell is judged by a sample, some of its rows and
 * on them some runs of columns, evenly spread and the same every time. Pure; a plain value. */
#pragma once

#include "proto/kind.h"

#include <stdbool.h>
#include <stdint.h>

/* Cells along an edge, at most. */
#define OVERVIEW_CELLS 256
/* Elements that are looked at, and bytes of the rows in which they lie: some tens of milliseconds,
 * where the matrix is in memory. */
#define OVERVIEW_ELEMENTS (UINT64_C(1) << 24)
#define OVERVIEW_SPAN_BYTES (UINT64_C(256) << 20)
/* Neighbours that are looked at together: a cache line of i4. */
#define OVERVIEW_RUN 16

/* Cell i covers those from first + i * count / cells up to, not with, where the next begins. */
struct overview_axis {
    uint32_t first;
    uint32_t count;
    uint32_t cells;
};

struct overview {
    enum kind kind;
    struct overview_axis rows;
    struct overview_axis columns;
    uint32_t row_limit;    /* rows of a cell that are looked at, */
    uint32_t column_limit; /* and columns on each; a multiple of a run where not all are */
};

struct overview_cell {
    uint64_t elements; /* looked at */
    uint64_t finite;   /* of these */
    double least;      /* of the finite ones, when there are any */
    double largest;
    double sum;
};

/* The block of these rows and columns in at most `cells` cells an edge (1 to OVERVIEW_CELLS). */
struct overview overview_plan(enum kind kind, struct overview_axis rows,
                              struct overview_axis columns, uint32_t cells);
/* Whether some elements are not looked at. */
bool overview_is_sample(const struct overview *overview);
/* Where a cell begins; that of the cell behind the last is the end. */
uint32_t overview_begin(const struct overview_axis *axis, uint32_t cell);
/* Rows that are looked at for one row of cells, and the vertex of one of them. */
uint32_t overview_looks(const struct overview *overview, uint32_t cell_row);
uint32_t overview_vertex(const struct overview *overview, uint32_t cell_row, uint32_t look);
/* Adds what is looked at on such a row to its cells, columns.cells of them. distances: from the
 * vertex to all. */
void overview_add(const struct overview *overview, const void *distances,
                  struct overview_cell *cells);
/* Rows that are looked at in all. */
uint64_t overview_rows(const struct overview *overview);
