/* A pattern without its vertices of at most two neighbours, which are eliminated again and again;
 * two neighbours of an eliminated vertex become neighbours. Less than half of a road network is
 * left, the core, and no order could avoid the little fill that this takes. */
#pragma once

#include "server/solver/order/pattern.h"

struct reduction {
    const struct pattern *pattern; /* borrowed */
    struct pattern core;           /* its weights count the eliminated vertices */
    int32_t *order; /* the vertices: the eliminated ones in their order, then those of the core */
    uint32_t eliminated;
    int32_t *neighbour; /* in the rows of the pattern: the neighbours that are left */
    int32_t *degree;    /* how many these are; of an eliminated vertex the bitwise complement of its
                           degree at elimination */
    int32_t *local;     /* vertex -> its number in the core */
    int32_t *weight;
};

/* The reduction has to be finished, whatever the status. STATUS_NO_MEMORY. */
MUST_CHECK enum status reduction_make(const struct pattern *pattern,
                                      struct reduction *ret_reduction);
void reduction_finish(struct reduction *reduction);

/* The one or two neighbours that an eliminated vertex had at its elimination. They are neighbours
 * of each other from then on. */
const int32_t *reduction_neighbours(const struct reduction *reduction, uint32_t vertex,
                                    uint32_t *ret_count);
