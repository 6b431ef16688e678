/* Strongly connected components of a directed graph: sets of vertices that all reach one another.
 *
 * They are numbered from the sinks up: an edge between two components leads to the one of the lower
 * number. */
#pragma once

#include "proto/graph.h"

struct strong_components {
    uint32_t count;
    uint32_t *of;    /* vertex -> component */
    uint32_t *level; /* of each component: edges between components lead to higher levels */
};

/* A component's level is its distance from a source or from a sink, in components, whichever is
 * nearer: sources have level 0 and sinks the highest, 2 * count. O(n + m), without recursion
 * (Tarjan 1972). STATUS_NO_MEMORY. */
MUST_CHECK enum status strong_components_find(const struct graph *graph,
                                              struct strong_components *ret_components);
/* Accepts zeroed components. */
void strong_components_finish(struct strong_components *components);
