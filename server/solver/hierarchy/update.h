/* A partial customization: the weights of a hierarchy after a change of some edges. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solve.h"

/* An edge that differs from that of the parent: its weight now, NAN where it was removed. */
struct solve_arc {
    uint32_t source;
    uint32_t target;
    double weight;
};

/* How a change of a hierarchy ended. */
enum update_result {
    UPDATE_DONE,
    UPDATE_CANCELLED,
    UPDATE_ALL_WEIGHTS, /* not done: computing all weights takes no longer, or memory ran out */
    UPDATE_SOLVE_ANEW   /* not done: some cycle may be negative, or an edge is new to the order */
};

/* More arcs than this are not worth an update. */
#define SOLVE_UPDATE_HIERARCHY_ARCS 4096

/* The hierarchy of a graph from that of its parent: the arcs are computed again from where they may
 * have changed up to where they have not, with the weights that a whole customization gives them.
 * arcs: the edges that differ, in either direction. bytes: a copy of the base's, undefined unless
 * the update is done. */
MUST_CHECK enum update_result solve_update_hierarchy(const struct hierarchy *base,
                                                     const struct graph *graph,
                                                     const struct solve_arc *arcs, size_t arc_count,
                                                     const struct observer *observer, void *bytes,
                                                     struct solve_outcome *outcome);
