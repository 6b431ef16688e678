/* A graph as the tests write it: a plain list of edges, parallel ones and loops allowed. */
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

/* These end the test program when memory is short. */
void edge_list_add(struct edge_list *list, uint32_t source, uint32_t target, double weight);
void edge_list_finish(struct edge_list *list);
/* The graph that an upload of these edges becomes, vertices named by their rows. */
struct graph *edge_list_build(const struct edge_list *list);
