/* Negative cycles of a graph. */
#pragma once

#include "proto/graph.h"

/* Names one negative cycle, on the exact weights of the graph: ret_cycle is an array of rows in
 * walking order (first vertex not repeated), freed by the caller with free(); NULL and length 0
 * when there is none. Bellman-Ford with a check of the predecessor graph: O(n m). A cycle whose sum
 * is not distinguishable from 0 in double precision is not negative. */
MUST_CHECK enum status graph_negative_cycle(const struct graph *graph, uint32_t **ret_cycle,
                                            size_t *ret_length, double *ret_weight);
