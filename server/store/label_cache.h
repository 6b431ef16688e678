/* A cache of the labels and rows of hierarchies (proto/hierarchy_search.h). A label is computed
 * when a pair first needs it. With both labels in memory, a pair takes about five times as long as
 * with a matrix. A small hierarchy of integers or decimals also keeps rows, after labels have
 * answered so many pairs that rows would have taken no longer; a pair then takes as long as with a
 * matrix.
 *
 * One budget covers all hierarchies of the process. A label that does not fit is computed for the
 * current call only, and the next call evicts all labels and rows of the least recently used
 * other hierarchy. Any thread; the lock is not held while labels or rows are computed. */
#pragma once

#include "proto/hierarchy_search.h"

struct label_table; /* labels and rows of one hierarchy */

/* Sets the limit on the bytes of all labels and rows; 0 = a quarter of the memory, at most 1 GiB.
 * Before this call no label is cached. */
void label_cache_set_budget(uint64_t bytes);
/* Returns the bytes of all labels and rows in memory, for metrics and tests. */
uint64_t label_cache_used(void);
/* Returns whether the budget has room for all rows of a hierarchy, so that they are kept after many
 * pairs. kind: the kind of the distances, which are integers or decimals. */
bool label_cache_keeps_rows(uint32_t vertex_count, enum kind kind);

/* Computes the distances of the pairs (source, target), as consecutive elements of the kind. A call
 * takes about a millisecond: *ret_count is the number of pairs computed, from the first on and at
 * least one unless count is 0; the caller calls again for the rest. table: address of the pointer
 * to the hierarchy's labels, stored beside the hierarchy and initially NULL. STATUS_NO_MEMORY. */
MUST_CHECK enum status label_cache_pairs(struct label_table **table,
                                         const struct hierarchy *hierarchy, const uint32_t *pairs,
                                         size_t count, void *ret_elements, size_t *ret_count);
/* Frees the labels of a hierarchy before it is closed. No call for it may be running. */
void label_cache_drop(struct label_table **table);
