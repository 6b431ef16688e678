/* Negative cycles of a graph. */
#pragma once

#include "proto/graph.h"

/* Names one negative cycle, on the exact weights of the graph: ret_cycle is an array of rows in
 * walking order (first vertex not repeated), freed by the caller with free(); NULL and length 0
 * when there is none. Bellman-Ford with a check of the predecessor graph: O(n m). Weights are the
 * shortest decimals that are read as them, and their sums exact; where weights differ by more than
 * 12 powers of ten after 17 digits, the smallest digits do not count. */
MUST_CHECK enum status graph_negative_cycle(const struct graph *graph, uint32_t **ret_cycle,
                                            size_t *ret_length, double *ret_weight);
