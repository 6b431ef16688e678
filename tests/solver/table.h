/* The table of cases: each graph shape of a given size, in each kind, compared with the oracle. */
#pragma once

#include "server/solver/solver.h"

/* Tests all shapes with n vertices, each with and without a negative cycle. Kinds that a solver
 * does not support are skipped. */
bool table_run(struct solver *const *solvers, size_t solver_count, uint32_t vertex_count);
