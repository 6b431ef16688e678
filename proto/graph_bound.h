/* A tighter bound on the distances of a graph, so that more graphs can be solved as i4. Called by
 * the thread that builds the graph. */
#pragma once

#include "proto/graph.h"

/* Lowers summary.distance_bound if the current bound keeps a graph of non-negative integer weights
 * from being solved as i4. The bound follows from d(u,v) <= d(u,hub) + d(hub,v), with the lengths
 * of breadth-first paths to and from a hub. Vertices outside the hub's strongly connected component
 * still add their largest weight to the bound. The two parts may be added because a shortest path
 * enters and leaves the component at most once. If the paths from the hub reach all vertices,
 * summary.components becomes 1.
 *
 * The bound holds for shortest paths only. Other paths may be longer, so a solver must keep sums
 * above GRAPH_BOUND_I4 from wrapping, as min(unreachable, a + b) does. O(n + m). Uses at most 8
 * bytes per edge and 28 bytes per vertex during the call; without that memory nothing changes. */
void graph_tighten_bound(struct graph *graph);
