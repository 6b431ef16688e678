/* Made-up graphs, the same on every machine for one seed: integer arithmetic only. The edges are
 * handed out one by one in a fixed order, none is kept. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

enum generator_shape {
    GENERATOR_GNP,   /* every pair is an edge with the same chance */
    GENERATOR_DENSE, /* every pair is an edge */
    GENERATOR_GRID,  /* streets on squared paper */
    GENERATOR_ROAD,  /* a grid with displaced crossings, missing streets and diagonals; connected */
    GENERATOR_COUNT
};

struct generator_request {
    enum generator_shape shape;
    bool directed; /* else every edge comes with its reverse, behind it */
    uint32_t vertex_count;
    uint32_t degree;     /* gnp: edges that leave a vertex, on average */
    uint64_t max_weight; /* weights are 1..max_weight; of a road, in proportion to its length */
    uint64_t seed;
};

/* Stops the generation with any status but STATUS_OK. */
struct generator_sink {
    void *context;
    enum status (*take)(void *context, uint32_t source, uint32_t target, uint64_t weight);
};

/* Vertices are 0..n-1. Deterministic: called twice it hands out the same edges. */
MUST_CHECK enum status generator_run(const struct generator_request *request,
                                     const struct generator_sink *sink);
