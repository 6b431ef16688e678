/* The edges of a graph grouped by target vertex, so that a shortest path can be walked backwards.
 * The caller of adjacency_create owns the object. It is immutable: any thread may read it. */
#pragma once

#include "proto/graph.h"

struct adjacency {
    uint32_t vertex_count;
    uint64_t *offset;   /* vertex_count + 1 indexes: first edge that enters each vertex */
    uint32_t *source;   /* sources of the edges, ascending within a target vertex */
    int32_t *weight_i4; /* weights of the edges, by weight type; the other array is NULL */
    double *weight_f8;
};

/* Computes the bytes of an adjacency; an undirected edge counts twice. STATUS_TOO_LARGE on
 * overflow. */
MUST_CHECK enum status adjacency_size(uint32_t vertex_count, uint64_t edge_count, bool directed,
                                      enum weight_type type, size_t *ret_bytes);
MUST_CHECK enum status adjacency_create(const struct graph *graph,
                                        struct adjacency **ret_adjacency);
void adjacency_destroy(struct adjacency *adjacency);

double adjacency_weight(const struct adjacency *adjacency, uint64_t edge);
