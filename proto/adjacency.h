/* The edges of a graph by the vertex that they lead to: what walking a shortest path backwards
 * asks for. Immutable once created; any thread may read. */
#pragma once

#include "proto/graph.h"

struct adjacency {
    uint32_t vertex_count;
    uint64_t *offset;   /* vertex_count + 1: the edges into v are [offset[v], offset[v + 1]) */
    uint32_t *source;   /* ascending within a vertex */
    int32_t *weight_i4; /* one of the two, by the graph's weight type */
    double *weight_f8;
};

/* Bytes that such edges take; an undirected edge counts twice. STATUS_TOO_LARGE on overflow. */
MUST_CHECK enum status adjacency_size(uint32_t vertex_count, uint64_t edge_count, bool directed,
                                      enum weight_type type, size_t *ret_bytes);
MUST_CHECK enum status adjacency_create(const struct graph *graph,
                                        struct adjacency **ret_adjacency);
void adjacency_destroy(struct adjacency *adjacency);

double adjacency_weight(const struct adjacency *adjacency, uint64_t edge);
