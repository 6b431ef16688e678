/* The first pass over the matrix: edges in. */
#pragma once

#include "proto/graph.h"
#include "server/solver/cpu_pool.h"
#include "server/solver/cpu_tiles.h"

/* Sets every entry: 0 on the diagonal, weights of edges, unreachable elsewhere; but not those of
 * tiles that the plan first writes as fresh. With symmetric only tiles on and below the diagonal,
 * for undirected graphs. The weights fit the arithmetic (graph_choose_kind, and the proof for 16
 * bits). */
void cpu_fill_edges(struct cpu_pool *pool, const struct graph *graph, const struct cpu_tiles *tiles,
                    bool symmetric);
