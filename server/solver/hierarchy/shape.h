/* The shape of a hierarchy (proto/hierarchy.h): the pattern that results from eliminating the
 * vertices in their order. It depends only on the pattern of the graph. */
#pragma once

#include "proto/graph.h"
#include "proto/hierarchy.h"

struct hierarchy_limits {
    uint64_t entries; /* number of entries of all blocks */
    double steps;     /* number of elimination steps */
};

/* Makes the shape for the order vertex_at. The shape uses a postorder of that order's elimination
 * tree, which has the same fill. STATUS_NO_MEMORY; STATUS_TOO_LARGE beyond the limits, which the
 * shape exceeds if the graph has no small separators. */
MUST_CHECK enum status hierarchy_make_shape(const struct graph *graph, const uint32_t *vertex_at,
                                            const struct hierarchy_limits *limits,
                                            struct hierarchy_shape **ret_shape);
void hierarchy_destroy_shape(struct hierarchy_shape *shape);
