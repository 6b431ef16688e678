/* Nested dissection: a connected pattern is divided by a vertex separator, and so are its sides,
 * until they are small or a separator no longer pays. The parts form a binary tree. */
#pragma once

#include "proto/solve.h"
#include "server/solver/order/pattern.h"

#include <stdatomic.h>

#define NO_NODE UINT32_MAX

/* A set of vertices, contiguous in an order: those of its two sides, then its separator. A leaf has
 * no sides; all vertices are its own. */
struct order_node {
    uint32_t begin;     /* positions of the order: everything below the node */
    uint32_t separator; /* [separator, end) are the node's own */
    uint32_t end;
    uint32_t child[2]; /* lower than the node itself; both NO_NODE in a leaf */
};

/* The trees of several patterns, which share an array of vertices. */
struct dissection {
    uint32_t *vertex_at;      /* of each pattern its vertices, contiguous */
    struct order_node *nodes; /* room for 2 nodes per vertex */
    atomic_uint node_count;
    uint32_t leaf;                   /* vertices of a leaf: one of the limits below */
    const struct observer *observer; /* asked before each separator, by any thread; NULL = none */
};

/* A part with at most this many vertices is a leaf, vertices of the core counted twice: about a
 * tile of a plan (proto/plan.h). In a large graph leaves of several tiles add little to the work of
 * a plan, minimum degree orders them as well as separators do, and a quarter of the time is saved.
 */
#define DISSECTION_LEAF 192
#define DISSECTION_LEAF_LARGE 512
#define DISSECTION_LARGE_VERTICES 8192

/* Divides the pattern of the vertices that begin at this position, sorts them, and adds the nodes
 * of its tree. take_pattern is finished, whatever the status. threads: at least 1; with several
 * threads the separators of a large pattern are others each time. STATUS_NO_MEMORY,
 * STATUS_CANCELLED. */
MUST_CHECK enum status dissection_divide(struct dissection *dissection,
                                         struct pattern *take_pattern, uint32_t begin,
                                         uint32_t threads, uint32_t *ret_node);

/* Adds a leaf and returns its number. */
uint32_t dissection_add_leaf(struct dissection *dissection, uint32_t begin, uint32_t end);

/* Whether the pattern may have a small separator: a breadth-first search from a vertex at its rim
 * has a thin level. Roads, meshes and grids are crossed in many thin levels; a random graph, whose
 * separators are too large, in a few thick ones. So are some networks with a dense core that have
 * separators. The search takes a few percent of the first separator's time. STATUS_NO_MEMORY. */
MUST_CHECK enum status dissection_has_thin_level(const struct pattern *pattern, bool *ret_found);
