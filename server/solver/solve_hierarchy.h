/* One whole solve that makes a hierarchy in place of a matrix. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/hierarchy/update.h"
#include "server/solver/solve.h"

/* The bytes of a hierarchy: its file, and the labels in memory by which it answers. */
struct hierarchy_size {
    uint64_t bytes;
    uint64_t label_bytes; /* of every vertex the distances to all above it, and back */
    uint64_t arc_count;
};

/* By the order of the graph, as solve_hierarchy finds it: of the weights nothing is read. With a
 * byte_limit below UINT64_MAX a graph whose hierarchy is larger is given up early.
 * STATUS_TOO_LARGE, STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_measure_hierarchy(const struct graph *graph,
                                               const struct solve_request *request,
                                               uint64_t byte_limit,
                                               struct hierarchy_size *ret_size);

/* A hierarchy, computed on the processor. request->kind: i4, f4 or f8; verify is for the caller.
 * record: a kept order is taken where it serves hierarchies, else the one that is found replaces
 * it. ret_bytes: of ret_size, to be freed; hierarchy_open takes them. As solve_graph on failure;
 * STATUS_TOO_LARGE when it would take more memory than there is. */
MUST_CHECK enum status solve_hierarchy(const struct graph *graph,
                                       const struct solve_request *request, void **ret_bytes,
                                       uint64_t *ret_size, struct solve_outcome *outcome,
                                       struct problem *reterr);

/* The same over the shape of a base, whose graph has the edges of this one, and the kind:
 * UPDATE_DONE, UPDATE_CANCELLED or UPDATE_SOLVE_ANEW. threads: 0 = one a core. */
MUST_CHECK enum update_result solve_customize(const struct hierarchy *base,
                                              const struct graph *graph, uint32_t threads,
                                              const struct observer *observer, void **ret_bytes,
                                              uint64_t *ret_size, struct solve_outcome *outcome);
