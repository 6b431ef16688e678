/* The first and the last pass over the matrix: edges in, canonical distances out. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "server/solver/cpu_pool.h"

/* Sets every entry: 0 on the diagonal, weights of edges, unreachable elsewhere. Kinds i4, f4, f8;
 * the graph's weights fit the kind (graph_choose_kind). */
void cpu_fill_edges(struct cpu_pool *pool, const struct graph *graph, struct matrix *matrix);

/* Integers that drifted below unreachable become unreachable again. */
void cpu_fill_canonical(struct cpu_pool *pool, struct matrix *matrix);

/* True when no diagonal entry is below 0. With clamp those that are become 0 first. Floats only:
 * there a cycle of length 0 may round to less after its last vertex was pivot. */
bool cpu_fill_check_diagonal(struct matrix *matrix, bool clamp);
