/* Makes the plan that a solver executes for a graph. */
#pragma once

#include "server/solver/plan/cost.h"

/* The trivial plan: identity order, every tile in every step. tile: vertices per tile edge. */
MUST_CHECK enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan);

/* The cheapest plan that is found, by the solver's figures: by components and separators where that
 * pays, else the dense one. The same graph and figures give the same plan. What cannot pay is seen
 * from n and m, or from the first separator. STATUS_NO_MEMORY. */
MUST_CHECK enum status planner_make(const struct graph *graph, const struct plan_cost *cost,
                                    struct plan **ret_plan);
