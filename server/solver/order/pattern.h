/* The pattern of a graph: who is a neighbour of whom, seen as undirected. In compressed rows,
 * without loops or parallel edges, with fewer than 2^31 entries and vertices: the form that METIS
 * reads. Owned by whoever initialised it. */
#pragma once

#include "proto/graph.h"

struct pattern {
    uint32_t vertex_count;
    int32_t *offset; /* vertex_count + 1 */
    int32_t *target;
    int32_t *weight; /* vertices of the graph that each vertex stands for */
};

/* Empty rows, room for this many entries, and the weight 1 everywhere. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_init(struct pattern *pattern, uint32_t vertex_count,
                                    size_t entry_count);
/* Accepts a zeroed pattern. */
void pattern_finish(struct pattern *pattern);

/* Both directions of each edge within a component. component: of each vertex, or NULL when all
 * edges count. mark: scratch of vertex_count entries. The graph has at most INT32_MAX / 2 edges.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_make(const struct graph *graph, const uint32_t *component,
                                    uint32_t *mark, struct pattern *ret_pattern);

/* The part of a pattern on these of its vertices, with their weights. local: the place of each
 * among them, NO_VERTEX elsewhere. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_cut(const struct pattern *whole, const uint32_t *vertices,
                                   uint32_t count, const uint32_t *local, struct pattern *ret_part);
