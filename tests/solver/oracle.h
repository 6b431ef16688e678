/* Naive Floyd-Warshall in doubles: a reference that shares no code with any back end. */
#pragma once

#include "tests/solver/edge_list.h"

/* Fills vertex_count^2 distances, +infinity for unreachable. Returns false if the graph has a
 * negative cycle. */
bool oracle_solve(const struct edge_list *list, double *distances);
