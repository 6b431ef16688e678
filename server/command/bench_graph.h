/* The graphs that apsp bench solves: random, sparse, strongly connected, the same on every machine.
 *
 * About 16 edges per vertex, weights above 0: random ones, and an edge from every vertex to vertex
 * 0 and back. The time of the dense plan depends on neither weights nor the number of edges, and a
 * complete graph would need n * n edges in host memory. Over vertex 0 no distance exceeds
 * BENCH_GRAPH_DISTANCE_MAX, which proves that 16 bits hold them all. */
#pragma once

#include "proto/graph.h"

#define BENCH_GRAPH_WEIGHT_MAX 1000
#define BENCH_GRAPH_DISTANCE_MAX (2 * BENCH_GRAPH_WEIGHT_MAX)

/* real: weights with fractions, of the same size. Another seed is another graph. The graph is the
 * caller's. */
MUST_CHECK enum status bench_graph_make(uint32_t vertex_count, bool directed, bool real,
                                        uint64_t seed, struct graph **ret_graph,
                                        struct problem *reterr);
