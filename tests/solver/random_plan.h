/* Random valid plans for tests of executors. The vertices and the pivots are in any order, tiles
 * have any width from 1 to `tile`, a round has one pivot or several independent pivots, and the
 * plan may have more tiles than necessary. The same seed gives the same plan. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* symmetric: for undirected graphs only. Ends the program if memory runs out. */
struct plan *random_plan_make(const struct graph *graph, uint32_t tile, bool symmetric,
                              uint64_t seed);
