/* One whole solve that builds a hierarchy instead of a matrix. Any thread. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/hierarchy/update.h"
#include "server/solver/solve.h"

/* The size of a hierarchy: its file, and the labels that speed up its answers in memory. */
struct hierarchy_size {
    bool exceeds_limit; /* the hierarchy exceeds byte_limit or a fixed limit; the sizes are 0 */
    uint64_t bytes;
    uint64_t label_bytes; /* distances of every vertex to and from all vertices above it */
    uint64_t arc_count;
};

/* Computes the size of the graph's hierarchy from the order that solve_hierarchy would use. Does
 * not read the weights. With a byte_limit below UINT64_MAX the function gives up early if the
 * hierarchy is larger. STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_measure_hierarchy(const struct graph *graph,
                                               const struct solve_request *request,
                                               uint64_t byte_limit,
                                               struct hierarchy_size *ret_size);

/* Computes a hierarchy on the CPU. request->kind: i4, f4 or f8; request->verify is ignored, the
 * caller verifies. request->record: a stored order is used if it is suitable for hierarchies;
 * otherwise a new order replaces it. ret_bytes: ret_size bytes for hierarchy_open; the caller frees
 * them. On failure as solve_graph; STATUS_TOO_LARGE without enough memory. */
MUST_CHECK enum status solve_hierarchy(const struct graph *graph,
                                       const struct solve_request *request, void **ret_bytes,
                                       uint64_t *ret_size, struct solve_outcome *outcome,
                                       struct problem *reterr);

/* Computes a hierarchy for the known shape and kind of `base`, whose graph has the same edges with
 * other weights. UPDATE_DONE, UPDATE_CANCELLED or UPDATE_SOLVE_ANEW. threads: 0 = one per core. */
MUST_CHECK enum update_result solve_customize(const struct hierarchy *base,
                                              const struct graph *graph, uint32_t threads,
                                              const struct observer *observer, void **ret_bytes,
                                              uint64_t *ret_size, struct solve_outcome *outcome);
