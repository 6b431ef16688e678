/* The list of edges during an upload: allocates it, and sorts it by source, then by target. Used by
 * the thread of the builder that owns the list. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

struct edge {
    uint32_t source;
    uint32_t target;
    double weight;
};

struct edge_buffer {
    uint64_t count;
    struct edge *edges; /* memory from edge_array_resize, freed with free() */
};

/* Resizes an array with one element per edge. array_of: address of the array pointer, which may be
 * NULL. count: at least 1. size: size of an element in bytes. Large arrays get huge pages, which
 * are faster to allocate and to access. STATUS_NO_MEMORY leaves the array unchanged. The array is
 * freed with free(). */
MUST_CHECK enum status edge_array_resize(void *array_of, uint64_t count, size_t size);

/* Sorts `count` edges in place; their endpoints are below vertex_count. Temporarily allocates a
 * buffer of 2^16 edges. The order of parallel edges is unspecified but deterministic.
 * STATUS_NO_MEMORY leaves the array unchanged. */
MUST_CHECK enum status edge_sort(struct edge *edges, uint64_t count, uint32_t vertex_count);
