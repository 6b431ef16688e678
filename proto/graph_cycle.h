/* Search for a negative cycle, which makes shortest distances undefined. Pure functions. */
#pragma once

#include "proto/solve.h"

/* The vertices of a negative cycle in the order of its edges, without repeating the first vertex;
 * released with free(). If all members are zero, there is no negative cycle. */
struct negative_cycle {
    uint32_t *vertices;
    size_t length;
    double weight;
};

/* Finds one negative cycle of the graph. Uses Bellman-Ford and checks the predecessor graph for
 * cycles: O(n m). Each weight counts as the shortest decimal that parses to it, and sums are exact.
 * The smallest digits are cut off only if the exponents of these decimals differ by more than 12.
 * STATUS_NO_MEMORY; STATUS_CANCELLED if the observer, which may be NULL, cancels the search. */
MUST_CHECK enum status graph_negative_cycle(const struct graph *graph,
                                            const struct observer *observer,
                                            struct negative_cycle *ret_cycle);
