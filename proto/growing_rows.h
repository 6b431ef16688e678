/* Rows of a graph with integer weights, which fill while its edges still come: for as long as those
 * come in order. Many files list them so, and then no list of edges is made first. They are in
 * memory, or go to a row_stream. */
#pragma once

#include "proto/graph_rows.h"
#include "proto/row_stream.h"

struct growing_rows;

/* vertex_count and directed as the graph will have them. STATUS_NO_MEMORY. */
MUST_CHECK enum status growing_rows_create(uint32_t vertex_count, bool directed,
                                           struct growing_rows **ret_rows);
void growing_rows_destroy(struct growing_rows *rows);

/* Takes edges, whose ends are vertices of the graph, in the order of the file. ret_taken: how many,
 * all or those before the first that is out of order, or that the stream has no room for.
 * STATUS_NO_MEMORY: none. */
MUST_CHECK enum status growing_rows_take(struct growing_rows *rows, const struct edge_i4 *edges,
                                         uint64_t count, uint64_t *ret_taken);
uint64_t growing_rows_count(const struct growing_rows *rows);
/* Whether they are in memory, of a directed graph, and have edges. */
bool growing_rows_may_stream(const struct growing_rows *rows);
/* Edges that are there, and those that come, go to the stream, which is borrowed until the rows are
 * destroyed. Of rows that may. False when the stream does not
 * take them: the rows stay as they were, and nothing is to be done with it any more. */
MUST_CHECK bool growing_rows_stream(struct growing_rows *rows, struct row_stream *stream);

/* No more edges come to these rows, which growing_rows_undo will follow: so that a stream need not
 * wait for any. */
void growing_rows_stop(const struct growing_rows *rows);
/* Ends the rows: all is set in the graph as by graph_rows_build, but edges_read. ret_streamed: its
 * target and weight_i4 are NULL, as the stream has them; where that failed they are taken back.
 * Frees the rows. STATUS_NO_MEMORY, or a failure to read from the stream, leaves the graph fit to
 * be destroyed. */
MUST_CHECK enum status growing_rows_end(struct growing_rows *rows, struct graph *graph,
                                        bool *ret_streamed);
/* Back to a list, in front of whatever is in it; loops and parallel edges have left by then, and
 * are counted in ret_summary. Frees the rows unless it fails: STATUS_NO_MEMORY, or the stream's. */
MUST_CHECK enum status growing_rows_undo(struct growing_rows *rows, struct edge_list *list,
                                         struct graph_summary *ret_summary);
