/* Makes the plan that a solver executes for a graph. */
#pragma once

#include "server/solver/order/order_record.h"
#include "server/solver/plan/cost.h"

/* The trivial plan: identity order, every tile in every step. tile: vertices per tile edge. */
MUST_CHECK enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan);

/* The cheapest plan that is found, by the solver's figures: by components and separators where that
 * pays, else the dense one. The same graph and figures give the same plan on one thread. What
 * cannot pay is seen from n and m, from how fast a search spreads, or from the first separator.
 *
 * record: NULL, or a record whose order is taken where it fits; else the order that is found
 * replaces it. The tiles to touch are always found from the
 * edges, so that no words make a plan wrong. STATUS_NO_MEMORY; STATUS_CANCELLED by the record's
 * observer. */
MUST_CHECK enum status planner_make(const struct graph *graph, const struct plan_cost *cost,
                                    struct order_record *record, struct plan **ret_plan);
