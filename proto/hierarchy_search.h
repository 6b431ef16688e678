/* Distance queries in a hierarchy. A shortest path climbs from its source to ancestors in the
 * elimination tree, which are eliminated later, and then descends to its target.
 *
 * The label "up" of a vertex holds its distances to each ancestor, by depth from the root, and to
 * itself last; the label "down" holds the distances from each ancestor to the vertex. The distance
 * of a pair is the least sum over the common ancestors, which come first in both labels (the tree
 * form of hub labels; Ouyang et al. 2018). A row of distances needs one label and a sweep from the
 * root down (Delling et al., PHAST, 2011; Buchhold, Sanders, Wagner 2019). A column is a row of the
 * reversed graph.
 *
 * A search is the scratch memory of one thread and borrows the hierarchy. Rows are computed in
 * steps of about a millisecond. */
#pragma once

#include "proto/hierarchy.h"

/* Number of rows computed side by side, one per lane. Fewer than HIERARCHY_LANES_MIN rows are
 * computed faster one by one. */
#define HIERARCHY_LANES 16
#define HIERARCHY_LANES_MIN 8

struct hierarchy_search;

/* Creates a search. is_reversed: it computes distances in the reversed graph. */
MUST_CHECK enum status hierarchy_search_create(const struct hierarchy *hierarchy, bool is_reversed,
                                               struct hierarchy_search **ret_search);
void hierarchy_search_destroy(struct hierarchy_search *search);

/* Returns the number of elements of a vertex's label; "up" and "down" have the same number. */
size_t hierarchy_label_count(const struct hierarchy *hierarchy, uint32_t vertex);
/* Computes the label "down" if is_down, else "up"; both are the same in an undirected graph. Equal
 * hierarchies give equal labels, bit for bit. */
void hierarchy_make_label(struct hierarchy_search *search, uint32_t vertex, bool is_down,
                          void *ret_label);
/* Computes the distance of a pair, an element of hierarchy_distance_kind, from the label "up" of
 * the source and the label "down" of the target. */
void hierarchy_pair(const struct hierarchy *hierarchy, uint32_t source, uint32_t target,
                    const void *label, const void *label_down, void *ret_element);

/* Begins to compute the rows of 1 to HIERARCHY_LANES sources: distances to all vertices, indexed by
 * vertex, one row after the other. A computation in progress is abandoned. */
void hierarchy_rows_begin(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                          void *rows);
/* Receives the distances from the sources, one per lane, to `count` positions from `first` on, as
 * elements of the arcs' kind. In lanes without a source all are unreachable. */
typedef void hierarchy_reader(void *context, uint32_t first, uint32_t count, const void *distances);
/* Begins to compute rows of up to HIERARCHY_LANES sources that are passed to `read` in blocks of
 * positions instead of being stored. Returns false when out of memory, or if the hierarchy is so
 * high that the lanes would take more than 256 MiB. */
MUST_CHECK bool hierarchy_lanes_begin(struct hierarchy_search *search, const uint32_t *sources,
                                      uint32_t count, hierarchy_reader *read, void *context);
/* Computes the rows for about a millisecond; returns true when they are complete. */
bool hierarchy_rows_step(struct hierarchy_search *search);
