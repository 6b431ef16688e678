/* Questions to a hierarchy. A vertex reaches the others by way of vertices that are eliminated
 * after it: its ancestors in the elimination tree. So a pair takes both climbs to the root, whose
 * common ancestors are compared, and a row takes one climb and a sweep from the root down (Delling
 * et al., PHAST, 2011; Buchhold, Sanders, Wagner 2019). A column is a row of the reversed graph.
 *
 * A search is the scratch of one thread. Rows are computed in steps of about a millisecond. */
#pragma once

#include "proto/hierarchy.h"

/* Rows that are computed side by side; fewer than the least take longer so than one by one. */
#define HIERARCHY_LANES 16
#define HIERARCHY_LANES_MIN 8

struct hierarchy_search;

MUST_CHECK enum status hierarchy_search_create(const struct hierarchy *hierarchy,
                                               struct hierarchy_search **ret_search);
void hierarchy_search_destroy(struct hierarchy_search *search);
/* Whether distances are those of the reversed graph from now on. At first they are not. */
void hierarchy_search_reverse(struct hierarchy_search *search, bool is_reversed);

/* The distances of these pairs (source, target), elements of the kind as in a matrix. Pairs of one
 * source that follow each other climb from it once. */
void hierarchy_pairs(struct hierarchy_search *search, const uint32_t *pairs, size_t count,
                     void *ret_elements);
/* So many pairs take about a millisecond; at least 1. */
size_t hierarchy_pairs_of_step(const struct hierarchy *hierarchy);

/* Begins to compute the distances from each of these vertices to all, by vertex, one row behind the
 * other; 1 to HIERARCHY_LANES of them. Ends a computation of other rows. */
void hierarchy_rows_begin(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                          void *rows);
/* Goes on for one step; true when the rows are complete. Pairs may be asked for between steps. */
bool hierarchy_rows_step(struct hierarchy_search *search);
/* Some elements of the row from a vertex; all parts of it fill the row. Threads may each compute
 * another part, with a search of their own. */
void hierarchy_row_part(struct hierarchy_search *search, uint32_t source, uint32_t part,
                        uint32_t parts, void *ret_row);
