/* Edges in the order of the file become the rows of a graph, and its summary. */
#pragma once

#include "proto/graph.h"
#include "proto/read/edge_sort.h"

#include <stdbool.h>

struct edge_list {
    uint64_t count;
    bool real;   /* some weight is no int32 */
    void *edges; /* malloc'ed: struct edge_i4, or struct edge_f8 when real */
};

/* Takes the edges, which are left without memory whatever comes of it. row_of, when not NULL, maps
 * each end to its row. Of the graph vertex_count and directed are set, in its summary edges_read
 * and negative_loop, and all else is zero; after STATUS_OK only names miss. At most 24 bytes an
 * edge, those of the list included. STATUS_NO_MEMORY leaves the graph fit to be destroyed. */
MUST_CHECK enum status graph_rows_build(struct edge_list *edges, const uint32_t *row_of,
                                        struct graph *graph);
