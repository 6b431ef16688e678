/* The edges of a graph grouped by target vertex, so that a shortest path can be walked backwards.
 * The caller of adjacency_create owns the object. It is immutable: any thread may read it. */
#pragma once

#include "proto/graph.h"

struct adjacency {
    uint32_t vertex_count;
    uint64_t *offset;   /* index of the first edge into each vertex; vertex_count + 1 entries */
    uint32_t *source;   /* source of each edge; ascending among the edges into one vertex */
    int32_t *weight_i4; /* weights if the graph has integer weights, else NULL */
    double *weight_f8;  /* weights if the graph has real weights, else NULL */
};

/* Computes the size of an adjacency in bytes. An undirected edge is stored in both directions.
 * Returns STATUS_TOO_LARGE on overflow. */
MUST_CHECK enum status adjacency_size(uint32_t vertex_count, uint64_t edge_count, bool directed,
                                      enum weight_type type, size_t *ret_bytes);
MUST_CHECK enum status adjacency_create(const struct graph *graph,
                                        struct adjacency **ret_adjacency);
void adjacency_destroy(struct adjacency *adjacency);

double adjacency_weight(const struct adjacency *adjacency, uint64_t edge);
