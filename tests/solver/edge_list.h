/* A test graph as a plain list of edges; parallel edges and loops are allowed. */
#pragma once

#include "proto/graph.h"
#include "proto/read/edge_buffer.h"

struct edge_list {
    uint32_t vertex_count;
    bool directed;
    struct edge *edges;
    size_t count;
    size_t capacity;
};

/* These functions end the test program if memory runs out. */
void edge_list_add(struct edge_list *list, uint32_t source, uint32_t target, double weight);
void edge_list_finish(struct edge_list *list);
/* Builds the graph that an upload of these edges would give, with row numbers as vertex names. */
struct graph *edge_list_build(const struct edge_list *list);
