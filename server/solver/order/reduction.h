/* Reduces a pattern by repeatedly eliminating vertices with at most two neighbours; the two
 * neighbours of an eliminated vertex become adjacent. The remaining vertices are the core: in a
 * road network, fewer than half of the vertices. Eliminating the other vertices first causes little
 * fill, and no other order causes less. */
#pragma once

#include "server/solver/order/pattern.h"

struct reduction {
    const struct pattern *pattern; /* borrowed */
    struct pattern core;           /* its weights include the eliminated vertices */
    int32_t *order;                /* the eliminated vertices in order, then those of the core */
    uint32_t eliminated;
    int32_t *neighbour; /* remaining neighbours, in the rows of the pattern */
    int32_t *degree;    /* number of remaining neighbours; for an eliminated vertex the bitwise
                         * complement of its degree at elimination */
    int32_t *local;     /* vertex -> its number in the core */
    int32_t *weight;
};

/* Reduces the pattern. The caller must finish it, whatever the status. STATUS_NO_MEMORY. */
MUST_CHECK enum status reduction_make(const struct pattern *pattern,
                                      struct reduction *ret_reduction);
void reduction_finish(struct reduction *reduction);

/* Returns the one or two neighbours of a vertex at its elimination, which became adjacent. */
const int32_t *reduction_neighbours(const struct reduction *reduction, uint32_t vertex,
                                    uint32_t *ret_count);
