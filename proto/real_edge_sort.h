/* The order of edge_sort.h for edges with decimals, whose second array would be too much memory. */
#pragma once

#include "proto/edge_sort.h"

/* Sorts `count` edges with ends below vertex_count in their place, with room for 2^16 of them
 * beside. Parallel edges come in any order, but always the same. STATUS_NO_MEMORY leaves the array
 * as it was. */
MUST_CHECK enum status real_edge_sort(struct edge_f8 *edges, uint64_t count, uint32_t vertex_count);
