/* Minimum degree order of a small part of a pattern: the vertex with the fewest neighbours,
 * including neighbours outside the part, is eliminated first. */
#pragma once

#include "server/solver/order/pattern.h"

/* Scratch memory, reused for all leaves. */
struct leaf_scratch {
    uint32_t *local; /* vertex -> number in the current leaf, NO_VERTEX outside it */
    uint32_t *member;
    uint64_t *bits;
    size_t bits_capacity;
};

MUST_CHECK enum status leaf_scratch_init(struct leaf_scratch *scratch, uint32_t vertex_count);
/* Frees the scratch memory. Accepts a zeroed struct. */
void leaf_scratch_finish(struct leaf_scratch *scratch);

/* A part with more vertices keeps its order: it has no separators, so no order would be good. */
#define LEAF_VERTICES_MAX 2048

/* Sorts these vertices of the pattern by minimum degree. STATUS_NO_MEMORY. */
MUST_CHECK enum status leaf_order(struct leaf_scratch *scratch, const struct pattern *pattern,
                                  uint32_t *vertices, uint32_t count);
