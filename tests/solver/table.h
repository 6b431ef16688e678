/* The table of cases: every shape at a size, in every kind, against the oracle. */
#pragma once

#include "server/solver/solver.h"

/* All shapes with n vertices, and each with a negative cycle added. Solvers that do not support a
 * kind are not asked for it. */
bool table_run(struct solver *const *solvers, size_t solver_count, uint32_t vertex_count);
