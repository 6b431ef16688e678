/* Estimates of solves, and the limits that follow from them. Any thread. */
#pragma once

#include "server/worker/task_solver.h"

/* Estimates time and memory of a large solve from the pace that the solver has measured so far.
 * cost: see graph_cost. ret_estimate->seconds is below 0 if unknown. */
void estimate_solve(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                    uint32_t cost, struct solver_estimate *ret_estimate);
/* Fills facts->vertex_limit and facts->pace_s for the device that facts describes. */
void estimate_limits(const struct solver *solver, struct worker_facts *facts);
