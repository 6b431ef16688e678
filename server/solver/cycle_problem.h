/* The problem documents of graphs that have a negative cycle, with the names of its vertices. */
#pragma once

#include "proto/graph.h"

#include <stddef.h>

/* cycle: rows in walking order, the first not repeated (graph_negative_cycle). Always
 * STATUS_NEGATIVE_CYCLE. */
MUST_CHECK enum status cycle_problem_set(const struct graph *graph, const uint32_t *cycle,
                                         size_t length, double weight, struct problem *reterr);

/* Likewise of the loop that is in the graph's summary. */
MUST_CHECK enum status cycle_problem_set_loop(const struct graph *graph, struct problem *reterr);
