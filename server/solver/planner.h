/* Makes the plan that a solver executes for a graph. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* The trivial plan: identity order, every tile in every step. tile: vertices per tile edge. */
MUST_CHECK enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan);
