/* One whole solve that builds a hierarchy instead of a matrix. Any thread. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solve.h"

/* The size of a hierarchy: its file, and the labels in memory that speed up queries. */
struct hierarchy_size {
    struct hierarchy_shape
        *shape; /* owned; NULL: the hierarchy exceeds byte_limit or a fixed limit */
    uint64_t bytes;
    uint64_t label_bytes; /* distances of every vertex to and from all vertices above it */
};

/* Computes the size of the graph's hierarchy, and its shape for solve_request.shape, from the order
 * that solve_hierarchy would use. Does not read the weights. With a byte_limit below UINT64_MAX the
 * function gives up early if the hierarchy is larger, or if a large or dense graph has no thin
 * level. STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_measure_hierarchy(const struct graph *graph,
                                               const struct solve_request *request,
                                               uint64_t byte_limit,
                                               struct hierarchy_size *ret_size);

/* Computes a hierarchy on the CPU. request->kind: i4, f4 or f8; request->verify is ignored: the
 * caller verifies the result. request->record: a stored order is used if it is suitable for
 * hierarchies; a missing or partial order is replaced by a new one. ret_bytes: ret_size bytes for
 * hierarchy_open; the caller frees them. Failures are those of solve_graph; also STATUS_TOO_LARGE
 * for the free memory; STATUS_NOT_VERIFIED if the graph has an edge that request->shape lacks. */
MUST_CHECK enum status solve_hierarchy(const struct graph *graph,
                                       const struct solve_request *request, void **ret_bytes,
                                       uint64_t *ret_size, struct solve_outcome *outcome,
                                       struct problem *reterr);
