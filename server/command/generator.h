/* Generates graphs. The same seed gives the same graph on every machine, because the generator uses
 * only integer arithmetic. Edges are passed on one by one in a fixed order and not stored. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

enum generator_shape {
    GENERATOR_GNP,   /* each pair is an edge with equal probability */
    GENERATOR_DENSE, /* every pair is an edge */
    GENERATOR_GRID,  /* a square grid of streets */
    GENERATOR_ROAD,  /* a grid with displaced crossings, missing streets and diagonals; connected */
    GENERATOR_COUNT
};

struct generator_request {
    enum generator_shape shape;
    bool directed; /* false: every edge is followed by its reverse */
    uint32_t vertex_count;
    uint32_t degree;     /* gnp: average number of edges that leave a vertex */
    uint64_t max_weight; /* weights are 1..max_weight; in a road network, proportional to length */
    uint64_t seed;
};

/* Receives each edge; any status other than STATUS_OK stops the generation. */
struct generator_sink {
    void *context;
    enum status (*take)(void *context, uint32_t source, uint32_t target, uint64_t weight);
};

/* Generates edges between vertices 0..n-1; the same request gives the same edges. */
MUST_CHECK enum status generator_run(const struct generator_request *request,
                                     const struct generator_sink *sink);
