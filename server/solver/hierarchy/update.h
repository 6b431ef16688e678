/* Partial customization: updates the weights of a hierarchy after a change of some edges. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solve.h"

/* An edge that differs from the parent graph, with its new weight, or NAN if it was removed. */
struct solve_arc {
    uint32_t source;
    uint32_t target;
    double weight;
};

enum update_result {
    UPDATE_DONE,
    UPDATE_CANCELLED,
    UPDATE_ALL_WEIGHTS, /* not done: computing all weights is not slower, or memory ran out */
    UPDATE_SOLVE_ANEW   /* not done: a cycle may be negative, or an edge has no arc */
};

/* Maximum number of changed arcs: for more arcs, computing all weights is about as fast. */
#define SOLVE_UPDATE_HIERARCHY_ARCS 4096

/* Computes the hierarchy of a changed graph from its parent's hierarchy by recomputing the arcs
 * that the change may affect. The weights equal those of a complete customization. arcs: the edges
 * that differ, in either direction. bytes: a copy of the base's bytes, undefined unless the update
 * is done. pieces: one bit per HIERARCHY_ALIGNMENT bytes;
 * sets the bits of the pieces that are written. */
MUST_CHECK enum update_result solve_update_hierarchy(const struct hierarchy *base,
                                                     const struct graph *graph,
                                                     const struct solve_arc *arcs, size_t arc_count,
                                                     const struct observer *observer, void *bytes,
                                                     uint64_t *pieces,
                                                     struct solve_outcome *outcome);
