/* Strongly connected components of a directed graph: sets of vertices that all reach one another.
 * They are numbered from the sinks up: an edge between two components leads to the component with
 * the lower number. */
#pragma once

#include "proto/graph.h"

struct strong_components {
    uint32_t count;
    uint32_t *of;    /* vertex -> component */
    uint32_t *level; /* level of each component; edges between components lead to higher levels */
};

/* Finds the components and their levels. The level of a component is the length of the longest path
 * of components from a source to it or, if the longest path from it to a sink is shorter, 2 * count
 * minus the length of that path. So sources have level 0, and all other sinks have level 2 * count.
 * O(n + m), without recursion (Tarjan 1972). STATUS_NO_MEMORY. */
MUST_CHECK enum status strong_components_find(const struct graph *graph,
                                              struct strong_components *ret_components);
/* Frees the components. Accepts a zeroed struct. */
void strong_components_finish(struct strong_components *components);
