/* The making of a hierarchy (proto/hierarchy.h): an order of elimination, the shape of what is
 * left, and its weights. */
#pragma once

#include "proto/graph.h"
#include "proto/hierarchy.h"
#include "proto/solve.h"
#include "server/solver/cpu/pool.h"

/* ---- shape.c ---- */

struct hierarchy_limits {
    uint64_t entries; /* of the blocks */
    double steps;     /* of the elimination */
};

/* vertex_at: an order, which comes out as a postorder of its elimination tree with the same fill.
 * STATUS_NO_MEMORY; STATUS_TOO_LARGE beyond the limits, as a graph without small separators is. */
MUST_CHECK enum status hierarchy_make_shape(const struct graph *graph, const uint32_t *vertex_at,
                                            const struct hierarchy_limits *limits,
                                            struct hierarchy_shape **ret_shape);
void hierarchy_destroy_shape(struct hierarchy_shape *shape);

/* ---- customize.c ---- */

struct hierarchy_options {
    enum kind kind;
    bool clamp_diagonal;             /* see struct solve_options */
    const struct observer *observer; /* may be NULL */
};

/* Shape and weights into bytes, as above. STATUS_NO_MEMORY, STATUS_NEGATIVE_CYCLE,
 * STATUS_CANCELLED, STATUS_TOO_LARGE for the free memory, STATUS_NOT_VERIFIED where the shape is
 * that of a graph without some of these edges: the bytes are undefined then. */
MUST_CHECK enum status hierarchy_customize(const struct hierarchy_shape *shape,
                                           const struct graph *graph, struct cpu_pool *pool,
                                           const struct hierarchy_options *options, void *bytes);
