/* Lines of an edge list as nearly all are written: small numbers of vertices that were seen before,
 * one delimiter between them, and perhaps a small weight. Part of reader_edges.c, which reads all
 * others. */
#pragma once

#include "proto/edge_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge_lines {
    const uint32_t *row_of; /* row + 1 by number, 0 for one not seen; NULL: rows are numbers */
    uint32_t number_limit;  /* numbers are below */
    char delimiter;
    bool has_weight; /* else it is 1 */
};

/* From the begin of a line on, up to the first that is not whole or not such a line, and room for
 * as many edges. Returns how many; ret_size: their bytes. */
uint64_t edge_lines_scan(const struct edge_lines *lines, const char *bytes, size_t size,
                         struct edge_i4 *edges, uint64_t room, size_t *ret_size);
