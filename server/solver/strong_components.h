/* Strongly connected components of a graph: sets of vertices that all reach one another. Of an
 * undirected graph these are its connected components.
 *
 * Numbered from the sinks up: an edge between two components leads to the one of lower number. */
#pragma once

#include "proto/graph.h"

struct strong_components {
    uint32_t count;
    uint32_t *of;     /* vertex -> component */
    uint32_t *member; /* the vertices, component by component */
    uint32_t *first;  /* count + 1: where the members of each begin */
};

/* O(n + m), without recursion (Tarjan 1972). Only STATUS_NO_MEMORY can fail it. */
MUST_CHECK enum status strong_components_find(const struct graph *graph,
                                              struct strong_components *ret_components);
/* Zeroed is allowed. */
void strong_components_finish(struct strong_components *components);
