/* Rows of a graph with integer weights, which fill while its edges still come: for as long as those
 * come in order. Many files list them so, and then no list of edges is made first. */
#pragma once

#include "proto/graph_rows.h"

struct growing_rows;

/* vertex_count and directed as the graph will have them. STATUS_NO_MEMORY. */
MUST_CHECK enum status growing_rows_create(uint32_t vertex_count, bool directed,
                                           struct growing_rows **ret_rows);
void growing_rows_destroy(struct growing_rows *rows);

/* Takes edges, whose ends are vertices of the graph, in the order of the file. ret_taken: how many,
 * all or those before the first that is out of order. STATUS_NO_MEMORY: none. */
MUST_CHECK enum status growing_rows_take(struct growing_rows *rows, const struct edge_i4 *edges,
                                         uint64_t count, uint64_t *ret_taken);
struct settled_edges growing_rows_settled(const struct growing_rows *rows);

/* Ends the rows: all is set in the graph as by graph_rows_build, but edges_read. Frees the rows.
 * STATUS_NO_MEMORY leaves the graph fit to be destroyed. */
MUST_CHECK enum status growing_rows_end(struct growing_rows *rows, struct graph *graph);
/* Back to a list, which must be empty and gets room for `room` edges more; loops and parallel edges
 * have left by then, and are counted in ret_summary. STATUS_NO_MEMORY: nothing has changed. */
MUST_CHECK enum status growing_rows_undo(const struct growing_rows *rows, uint64_t room,
                                         struct edge_list *ret_list,
                                         struct graph_summary *ret_summary);
