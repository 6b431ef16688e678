/* Customization: computes all weights of a hierarchy with a given shape. */
#pragma once

#include "proto/graph.h"
#include "proto/hierarchy.h"
#include "proto/solve.h"
#include "server/solver/cpu/pool.h"

struct hierarchy_options {
    enum kind kind;
    uint32_t decimals; /* decimals of the original weights; the graph has scaled integers */
    const struct observer *observer; /* may be NULL */
};

/* Writes the hierarchy, with its shape and all weights, to bytes. Fails with STATUS_NO_MEMORY,
 * STATUS_NEGATIVE_CYCLE, STATUS_CANCELLED, STATUS_TOO_LARGE if there is not enough free memory, or
 * STATUS_NOT_VERIFIED if an edge has no arc in the shape. After a failure `bytes` is undefined. */
MUST_CHECK enum status hierarchy_customize(const struct hierarchy_shape *shape,
                                           const struct graph *graph, struct cpu_pool *pool,
                                           const struct hierarchy_options *options, void *bytes);
