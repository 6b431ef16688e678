/* Questions to a hierarchy. A vertex reaches the others by way of vertices that are eliminated
 * after it: its ancestors in the elimination tree.
 *
 * The label of a vertex has its distances up to each of them, by depth from the root on, and to
 * itself last; the label down has those from them. A pair is the least sum over the common
 * ancestors, which are the first of both labels (the tree form of hub labels; Ouyang et al. 2018).
 * A row takes one label and a sweep from the root down (Delling et al., PHAST, 2011; Buchhold,
 * Sanders, Wagner 2019). A column is a row of the reversed graph.
 *
 * A search is the scratch of one thread. Rows are computed in steps of about a millisecond. */
#pragma once

#include "proto/hierarchy.h"

/* Rows that are computed side by side; fewer than the least take longer so than one by one. */
#define HIERARCHY_LANES 16
#define HIERARCHY_LANES_MIN 8

struct hierarchy_search;

/* Reversed: distances are those of the reversed graph. */
MUST_CHECK enum status hierarchy_search_create(const struct hierarchy *hierarchy, bool is_reversed,
                                               struct hierarchy_search **ret_search);
void hierarchy_search_destroy(struct hierarchy_search *search);

/* Elements of the labels of a vertex. */
size_t hierarchy_label_count(const struct hierarchy *hierarchy, uint32_t vertex);
/* is_down: the label down, of an undirected graph the same. The bits depend on the hierarchy alone.
 */
void hierarchy_make_label(struct hierarchy_search *search, uint32_t vertex, bool is_down,
                          void *ret_label);
/* A distance, an element of hierarchy_distance_kind, from the label of the source and the label
 * down of the target. */
void hierarchy_pair(const struct hierarchy *hierarchy, uint32_t source, uint32_t target,
                    const void *label, const void *label_down, void *ret_element);

/* Begins to compute the distances from each of these vertices to all, by vertex, one row behind the
 * other; 1 to HIERARCHY_LANES of them. Ends a computation of other rows. STATUS_NO_MEMORY. */
MUST_CHECK enum status hierarchy_rows_begin(struct hierarchy_search *search,
                                            const uint32_t *sources, uint32_t count, void *rows);
/* Goes on for one step; true when the rows are complete. */
bool hierarchy_rows_step(struct hierarchy_search *search);
