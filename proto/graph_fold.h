/* The undirected graph that a directed one amounts to, when each edge has its reverse of the same
 * weight: road networks usually come so. Its distances are the same and half of the work is enough.
 */
#pragma once

#include "proto/graph.h"

/* NULL where the graph is undirected, has a negative weight or loop, or an edge without such a
 * reverse; the first of them ends the search. Of 8 n bytes while it looks. What it returns borrows
 * the names of the graph: for graph_fold_destroy, before the graph. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_fold(const struct graph *graph, struct graph **ret_folded);
void graph_fold_destroy(struct graph *folded);
