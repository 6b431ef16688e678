/* Random valid plans for tests of executors: vertices in any order, tiles of any width from 1 to
 * `tile`, pivots in any order, one per round or merged if independent, and any superset of the
 * necessary tiles. The same seed gives the same plan. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* symmetric: for undirected graphs only. Ends the program if memory runs out. */
struct plan *random_plan_make(const struct graph *graph, uint32_t tile, bool symmetric,
                              uint64_t seed);
