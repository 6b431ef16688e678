/* A graph taken apart: its components in the order in which they are best eliminated, and each
 * large one dissected by separators, as trees. Owned by whoever made it; immutable. */
#pragma once

#include "proto/graph.h"

#define NO_NODE UINT32_MAX

/* A set of vertices, contiguous in the order: those of its two sides, then its separator. A leaf is
 * not taken apart and has no sides; its vertices are all its own. */
struct dissection_node {
    uint32_t begin;     /* positions of the order: everything below it */
    uint32_t separator; /* [separator, end) are its own */
    uint32_t end;
    uint32_t child[2]; /* NO_NODE, both, in a leaf; lower than the node itself */
};

/* A component's tree. Between components of one level there are no edges; those to others lead from
 * lower levels to higher ones. */
struct dissection_root {
    uint32_t node;
    uint32_t level;
};

struct dissection {
    uint32_t vertex_count;
    uint32_t *vertex_at; /* the order */
    struct dissection_node *nodes;
    uint32_t node_count;
    struct dissection_root *roots; /* levels ascending, and their vertices stand in this order */
    uint32_t root_count;
    uint32_t largest_separator; /* vertices */
};

struct dissection_options {
    uint32_t leaf; /* what has at most so many vertices is a leaf */
    /* Take strong components, sources first and sinks last, rather than connected ones. */
    bool directed;
};

/* What cannot be taken apart well becomes a leaf of any size. Without separators (separator.h)
 * every component is one. STATUS_NO_MEMORY. */
MUST_CHECK enum status dissection_make(const struct graph *graph,
                                       const struct dissection_options *options,
                                       struct dissection **ret_dissection);
void dissection_destroy(struct dissection *dissection);
