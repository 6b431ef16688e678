/* The lists of an undirected graph in which both ends of an edge list it, row by row: each edge is
 * collected once, and the two lists must agree. Part of reader_metis.c.
 * What was read is matched at once: a row's neighbours above it wait, in order, for their own rows,
 * which come in order too. So 24 bytes a row are enough beside the edges. */
#pragma once

#include "proto/read/graph_builder.h"

struct neighbour_rows_entry {
    uint32_t other; /* row */
    uint64_t column;
    double weight;
};

struct neighbour_rows_row {
    uint64_t begin; /* of its edges to later rows, in the builder */
    uint64_t next;  /* the first of them whose other end has not listed it */
    uint64_t line;
};

struct neighbour_rows {
    struct graph_builder *builder; /* borrowed */
    const struct graph_options *options;
    struct neighbour_rows_entry *entries; /* of the row at hand */
    size_t entry_count;
    size_t entry_capacity;
    struct neighbour_rows_row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
};

/* Accepts zeroes. */
void neighbour_rows_finish(struct neighbour_rows *neighbour_rows);

/* A neighbour of the row at hand. */
MUST_CHECK enum status neighbour_rows_add(struct neighbour_rows *neighbour_rows,
                                          struct neighbour_rows_entry entry,
                                          struct problem *reterr);
/* The row at hand, which stood in this line, is complete. STATUS_BAD_GRAPH for a loop, and for an
 * edge that its two ends do not list alike. */
MUST_CHECK enum status neighbour_rows_end_row(struct neighbour_rows *neighbour_rows, uint64_t line,
                                              struct problem *reterr);
/* After the last row: STATUS_BAD_GRAPH when an edge is listed by its first end alone. */
MUST_CHECK enum status neighbour_rows_end(const struct neighbour_rows *neighbour_rows,
                                          struct problem *reterr);
