/* Makes the plan that a solver executes for a graph. */
#pragma once

#include "server/solver/order/order_record.h"
#include "server/solver/plan/cost.h"

/* Makes the dense plan: identity order, every tile in every round. tile: vertices per tile edge. */
MUST_CHECK enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan);

/* Returns the cheapest plan that is found, by the solver's cost model: with components and
 * separators if they are worthwhile, else dense. With one thread, the same graph and cost model
 * give the same plan. Unpromising graphs are recognized from n and m, from how fast a search
 * spreads, or from the first separator. record: NULL, or a record whose order is used if it fits;
 * otherwise the new order replaces it. The tiles are always derived from the edges, so a wrong
 * record cannot make a wrong plan. STATUS_NO_MEMORY; STATUS_CANCELLED by the record's observer. */
MUST_CHECK enum status planner_make(const struct graph *graph, const struct plan_cost *cost,
                                    struct order_record *record, struct plan **ret_plan);
