/* Edges as they are collected: their memory, and their order, by source, then by target. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge {
    uint32_t source;
    uint32_t target;
    double weight;
};

struct edge_buffer {
    uint64_t count;
    struct edge *edges; /* malloc'ed */
};

/* Memory of arrays that have an element for each edge: large ones in large pages, which are made
 * and reached sooner. Moves *array_of, a pointer to elements of `size` bytes or NULL, to room for
 * `count` > 0 of them. False without memory: the array stays as it was. Freed with free(). */
bool edge_array_resize(void *array_of, uint64_t count, size_t size);

/* Sorts `count` edges in place, with ends below vertex_count; memory for 2^16 edges is taken
 * meanwhile. Parallel edges come in any order, but always the same. STATUS_NO_MEMORY leaves the
 * array as it was. */
MUST_CHECK enum status edge_sort(struct edge *edges, uint64_t count, uint32_t vertex_count);
