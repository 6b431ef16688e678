/* A bound on the distances of a graph. */
#pragma once

#include "proto/graph.h"

/* Lowers summary.distance_bound where it would keep integers without one below 0 from being i4:
 * d(u,v) <= d(u,hub) + d(hub,v), by the paths of a breadth-first search each way. What is not in
 * the hub's strong component counts as before: a shortest path is in the component in one piece.
 *
 * Longer paths may still exist: a solver must keep sums that pass GRAPH_BOUND_I4 from wrapping, as
 * min(unreachable, a + b) does. O(n + m), 8 bytes an edge and 28 a vertex meanwhile; without memory
 * nothing changes. */
void graph_tighten_bound(struct graph *graph);
