/* The pattern of a graph: the neighbours of each vertex, regardless of direction. Compressed rows
 * without loops or parallel edges, with fewer than 2^31 entries and vertices: the input format of
 * METIS. Owned by the caller that initialised it. */
#pragma once

#include "proto/graph.h"

struct pattern {
    uint32_t vertex_count;
    int32_t *offset; /* beginning of each row, vertex_count + 1 entries */
    int32_t *target;
    int32_t *weight; /* number of graph vertices that each vertex represents */
};

/* Initialises empty rows with room for this many entries, and weights of 1. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_init(struct pattern *pattern, uint32_t vertex_count,
                                    size_t entry_count);
/* Frees the pattern. Accepts a zeroed pattern. */
void pattern_finish(struct pattern *pattern);

/* Makes the pattern from both directions of each edge within a component. component: the component
 * of each vertex, or NULL to include all edges. mark: scratch of vertex_count entries. The graph
 * has at most INT32_MAX / 2 edges. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_make(const struct graph *graph, const uint32_t *component,
                                    uint32_t *mark, struct pattern *ret_pattern);

/* Extracts the part of a pattern that these vertices induce, with their weights. local: the index
 * of each vertex among these vertices, NO_VERTEX for other vertices. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_cut(const struct pattern *whole, const uint32_t *vertices,
                                   uint32_t count, const uint32_t *local, struct pattern *ret_part);
