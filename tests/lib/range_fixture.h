/* Small random graphs for tests of bounds on distances. The plain triple loop (Floyd-Warshall)
 * computes all distances and the longest distance. */
#pragma once

#include "proto/read/graph_builder.h"
#include "tests/lib/test.h"

#define RANGE_VERTICES 24
#define RANGE_DEGREE 32
#define RANGE_FAR (UINT64_MAX / 4)

struct range_edge {
    uint32_t source, target;
    double weight;
};

uint32_t range_next(uint64_t *seed, uint32_t below);

/* Builds a graph whose vertices are named 1, 2, ..., so that names differ from rows. The weights
 * are integers if all given weights are. */
struct graph *range_build(uint32_t vertex_count, const struct range_edge *edges, size_t count,
                          bool directed);

/* Makes an undirected grid of width * width vertices with weights 1. */
struct graph *range_grid(uint32_t width);

/* Makes a random graph. A third of the graphs are undirected, the number of edges ranges from 0 to
 * more than the number of vertex pairs, and a fifth of the weights are 0. */
struct graph *range_random(uint64_t seed);

/* Returns all distances row by row, RANGE_FAR for unreachable vertices. The caller frees them. */
uint64_t *range_distances(const struct graph *graph);
uint64_t range_longest(const struct graph *graph);
