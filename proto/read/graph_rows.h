/* Builds the rows and the summary of a graph from a list of edges, on the reader's thread. */
#pragma once

#include "proto/graph.h"
#include "proto/read/edge_buffer.h"

/* Fills in the rows and the summary: the last step of graph_builder_finish. The array of edges is
 * moved, even on failure. row_of, if not NULL, maps each endpoint to its row. The caller has set
 * vertex_count, directed, summary.edges_read and summary.negative_loop, and, if known, components
 * and distance_bound; all other members are zero. After STATUS_OK only the names are missing. Uses
 * at most 20 bytes per edge, with the list. After a failure the graph can only be destroyed. */
MUST_CHECK enum status graph_rows_build(struct edge_buffer *edges, const uint32_t *row_of,
                                        struct graph *graph);
/* Recomputes the summary, except edges_read, after weights have changed. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_rows_summarize(struct graph *graph);

/* Returns whether the weight is an integer in the range of int32. */
bool graph_rows_fit_integer(double weight);
/* Converts the weights from doubles to int32 in place if all of them fit, and shrinks the array to
 * the number of edges. After STATUS_NO_MEMORY the graph can only be destroyed. */
MUST_CHECK enum status graph_rows_narrow(struct graph *graph);
