/* Minimum vertex cuts: the smallest set of vertices of a band that separates the two sides of the
 * band. Augmenting paths (Ford and Fulkerson 1956) find the cut; one search may add several
 * disjoint paths. */
#pragma once

#include "server/solver/order/pattern.h"

/* The arrays are borrowed. */
struct band {
    const struct pattern *pattern;
    const uint32_t *vertices; /* all vertices on side SIDE_SEPARATOR */
    uint32_t count;
    uint32_t *place; /* scratch of one entry per vertex of the pattern */
};

/* Finds the minimum cut nearest to the first side. side: an enum side for each vertex
 * (separator.h); the vertices of the band are assigned to a side, or remain in the separator.
 * *ret_found is false, and the sides are unchanged, if the cut has more than `most` vertices or
 * needs many searches. O(edges of the band). STATUS_NO_MEMORY. */
MUST_CHECK enum status vertex_cut_find(const struct band *band, uint32_t most, int32_t *side,
                                       bool *ret_found);
