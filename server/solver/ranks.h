/* Ranks: processes, on one host or several, that solve one graph together. Each has the graph and
 * the plan, and every count-th row of tiles; what a round needs of the others' rows is broadcast.
 *
 * A rank that fails alone would leave the others waiting: whatever may fail in one of them, memory
 * above all, is agreed before they go on. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/ranks.h"

/* The graph of rank 0, which goes by the numbers of its rows elsewhere. status: of rank 0's reading
 * it; the other ranks' graph is set on STATUS_OK alone. STATUS_NO_MEMORY. */
MUST_CHECK enum status ranks_share_graph(const struct ranks *ranks, enum status status,
                                         struct graph **graph);

/* The plan of rank 0, likewise: two searches for separators may find different ones. tile: of the
 * solver. */
MUST_CHECK enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph,
                                        uint32_t tile, enum status status, struct plan **plan);
