/* Labels of the vertices of hierarchies (proto/hierarchy_search.h), made when a pair is first asked
 * for and kept in memory: with both labels at hand a pair costs little more than in a matrix.
 *
 * One budget for all hierarchies of the process. A label that has no room is made for the call
 * alone, and then the labels of the hierarchy that was used longest ago go as a whole. A lock
 * inside, never held while a label is made. Any thread. */
#pragma once

#include "proto/hierarchy_search.h"

struct label_table; /* the labels of one hierarchy */

/* Bytes of all labels; 0: a quarter of the memory, at most 1 GiB. Before, nothing is kept. */
void label_cache_set_budget(uint64_t bytes);
/* Bytes that are taken; for metrics and tests. */
uint64_t label_cache_used(void);

/* The distances of pairs (source, target), elements of the kind, one behind the other. *ret_count:
 * of so many, from the first on, at least one of some; the others take another call, as one takes
 * about a millisecond. table: that of the hierarchy, by the address of its owner's pointer, NULL at
 * first. STATUS_NO_MEMORY. */
MUST_CHECK enum status label_cache_pairs(struct label_table **table,
                                         const struct hierarchy *hierarchy, const uint32_t *pairs,
                                         size_t count, void *ret_elements, size_t *ret_count);
/* Before the hierarchy is closed. No call for it is under way. */
void label_cache_drop(struct label_table **table);
