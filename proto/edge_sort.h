/* Edges as they are collected, and their order: by source, then by target. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

/* The layout of the nthu format's records as well. */
struct edge_i4 {
    uint32_t source;
    uint32_t target;
    int32_t weight;
};

struct edge_f8 {
    uint32_t source;
    uint32_t target;
    double weight;
};

/* Sorts `count` edges with ends below vertex_count. The array is malloc'ed and may be replaced by
 * another; a second one of its size is taken meanwhile. Parallel edges keep their order.
 * STATUS_NO_MEMORY leaves the array as it was. */
MUST_CHECK enum status edge_sort(struct edge_i4 **edges, uint64_t count, uint32_t vertex_count);
