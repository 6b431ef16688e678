/* Ranks: processes, on one host or several, that solve one graph together. Each rank has the graph,
 * the plan and a share of the rows of tiles; tiles of other ranks that a round needs are broadcast.
 * All ranks call these functions, each from the thread that opened its struct ranks.
 *
 * If one rank failed alone, the others would wait forever. After each step that may fail, above all
 * an allocation, the ranks therefore agree on a status before they continue. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"
#include "proto/ranks.h"

/* Sends the graph of rank 0 to the other ranks, where row numbers replace the vertex names. status:
 * on rank 0, the status of reading the graph. Other ranks' *graph is set on STATUS_OK.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status ranks_share_graph(const struct ranks *ranks, enum status status,
                                         struct graph **graph);

/* Sends the plan of rank 0 to the other ranks, because two searches may find different separators.
 * tile: vertices per tile edge of the solver. */
MUST_CHECK enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph,
                                        uint32_t tile, enum status status, struct plan **plan);
