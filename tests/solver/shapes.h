/* The graph shapes for the tests of solvers. A shape makes a graph from a size and a seed. */
#pragma once

#include "tests/solver/edge_list.h"

struct shape {
    const char *name;
    bool directed;
    bool integral;
    bool seldom; /* tested only at some sizes */
    /* Adds the shape's edges to an empty list whose vertex_count is set. */
    void (*make)(struct edge_list *list, uint64_t seed);
};

extern const struct shape shapes[];
extern const size_t shape_count;

/* Creates the edge list of a shape; the caller frees it with edge_list_finish. */
struct edge_list shapes_make(const struct shape *shape, uint32_t vertex_count, uint64_t seed);
/* Adds an edge between every two different vertices, with weights from 1 to 1000. */
void shapes_make_dense(struct edge_list *list, uint64_t seed);
/* Adds a cycle of total length -1 through up to five vertices, somewhere in the graph. */
void shapes_add_negative_cycle(struct edge_list *list, uint64_t seed);

/* Returns the next random number (splitmix64) below limit. */
uint64_t shapes_random(uint64_t *state, uint64_t limit);
