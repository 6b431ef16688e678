/* Search for a negative cycle, which makes shortest distances undefined. Pure functions. */
#pragma once

#include "proto/graph.h"

/* Finds one negative cycle of the graph. ret_cycle: an array of rows in walking order, the first
 * vertex not repeated, to be released with free(); NULL with length 0 when there is no negative
 * cycle. Bellman-Ford with checks of the predecessor graph: O(n m). Each weight counts as the
 * shortest decimal that parses to it, and sums are exact; only if the exponents of the weights'
 * 17-digit decimals differ by more than 12 are the smallest digits cut off. */
MUST_CHECK enum status graph_negative_cycle(const struct graph *graph, uint32_t **ret_cycle,
                                            size_t *ret_length, double *ret_weight);
