/* How far apart the vertices of a strongly connected component are at most: by searches out of and
 * into a few of its vertices. d(i,j) <= d(i,r) + d(r,j), and a path between two vertices of a
 * component never leaves it.
 *
 * For graphs without negative weights whose weights are int32. Borrows graph and components for its
 * life; holds the edges once more, reversed. */
#pragma once

#include "server/solver/strong_components.h"

struct diameter_search;

MUST_CHECK enum status diameter_search_create(const struct graph *graph,
                                              const struct strong_components *components,
                                              struct diameter_search **ret_search);
void diameter_search_destroy(struct diameter_search *search);

/* True with an upper bound, at most `limit`, of the distances within the component; false when
 * there is a longer distance, or when no search proved that there is none. */
bool diameter_search_bound(struct diameter_search *search, uint32_t component, uint64_t limit,
                           uint64_t *ret_bound);
