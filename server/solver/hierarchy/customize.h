/* The weights of a hierarchy over a shape: one customization. */
#pragma once

#include "proto/graph.h"
#include "proto/hierarchy.h"
#include "proto/solve.h"
#include "server/solver/cpu/pool.h"

struct hierarchy_options {
    enum kind kind;
    uint32_t decimals;               /* of the summary, whose weights the graph has as integers */
    const struct observer *observer; /* may be NULL */
};

/* Shape and weights into bytes, as above. STATUS_NO_MEMORY, STATUS_NEGATIVE_CYCLE,
 * STATUS_CANCELLED, STATUS_TOO_LARGE for the free memory, STATUS_NOT_VERIFIED where the shape is
 * that of a graph without some of these edges: the bytes are undefined then. */
MUST_CHECK enum status hierarchy_customize(const struct hierarchy_shape *shape,
                                           const struct graph *graph, struct cpu_pool *pool,
                                           const struct hierarchy_options *options, void *bytes);
