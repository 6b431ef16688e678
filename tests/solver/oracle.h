/* Naive Floyd-Warshall in doubles: what every back end is measured against. Shares no code with
 * them. */
#pragma once

#include "tests/solver/edge_list.h"

/* distances: vertex_count^2, +infinity where unreachable. False at a negative cycle. */
bool oracle_solve(const struct edge_list *list, double *distances);
