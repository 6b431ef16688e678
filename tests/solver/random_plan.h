/* Random valid plans, for executors to be tried on: vertices in any order, tiles of any width from
 * 1 to `tile`, pivots in any order, one to a round or merged where they are independent, and any
 * superset of the tiles that are needed. The same seed gives the same plan. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* symmetric: for undirected graphs only. Ends the program when memory is short. */
struct plan *random_plan_make(const struct graph *graph, uint32_t tile, bool symmetric,
                              uint64_t seed);
