/* The fast path of formats with an edge a line, for the plainest lines: two numbers of vertices and
 * perhaps a small weight, with one delimiter between them. */
#pragma once

#include "proto/read/graph_builder.h"

struct edge_lines {
    const uint32_t *row_of; /* row + 1 by number, 0 for one not seen; NULL: rows are numbers */
    uint32_t base;          /* of the numbers, else: row 0 has it */
    uint32_t number_limit;  /* numbers are below, from the base on */
    char letter;            /* in front, with a blank behind it; 0 = none */
    char delimiter;
    bool has_weight; /* else it is 1 */
};

/* Adds the edges from the begin of a line on, up to the first line that is not whole or not such a
 * line, and at most so many. Returns how many; ret_size: their bytes. */
uint64_t edge_lines_scan(const struct edge_lines *lines, struct graph_builder *builder,
                         uint64_t limit, const char *bytes, size_t size, size_t *ret_size);
