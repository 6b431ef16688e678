/* Edges become the rows of a graph, with its summary. */
#pragma once

#include "proto/graph.h"
#include "proto/read/edge_buffer.h"

/* The last step of graph_builder_finish: edges become the rows of a graph, and its summary.
 * Takes the edges, which are left without memory whatever comes of it. row_of, when not NULL, maps
 * each end to its row. Of the graph vertex_count and directed are set, in its summary edges_read
 * and negative_loop, where they are known its components and a distance_bound, and all else is
 * zero; after STATUS_OK only names miss. At most 20 bytes an edge, those of the list included.
 * STATUS_NO_MEMORY leaves the graph fit to be destroyed. */
MUST_CHECK enum status graph_rows_build(struct edge_buffer *edges, const uint32_t *row_of,
                                        struct graph *graph);
/* The summary by the rows and their weights, of a graph whose weights have changed: as
 * graph_rows_build, which ends with it, but edges_read is left as it is. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_rows_summarize(struct graph *graph);

bool graph_rows_fit_integer(double weight);
/* Turns the weights of a graph from doubles into int32 in their place, where all are, and shortens
 * its arrays to its edges. STATUS_NO_MEMORY leaves the graph fit to be destroyed. */
MUST_CHECK enum status graph_rows_narrow(struct graph *graph);
