/* Nested dissection: a connected pattern is divided by a vertex separator, and its sides are
 * divided in the same way until they are small or a separator is no longer worthwhile. The parts
 * form a binary tree. */
#pragma once

#include "proto/solve.h"
#include "server/solver/order/pattern.h"

#include <stdatomic.h>

#define NO_NODE UINT32_MAX

/* A contiguous set of vertices in an order: the vertices of its two sides, then its separator. A
 * leaf has no sides; all of its vertices are its own. */
struct order_node {
    uint32_t begin;     /* positions of all vertices at and below the node */
    uint32_t separator; /* [separator, end) are the node's own vertices */
    uint32_t end;
    uint32_t child[2]; /* nodes with lower numbers; both NO_NODE in a leaf */
};

/* The trees of several patterns, which share an array of vertices. */
struct dissection {
    uint32_t *vertex_at;      /* the vertices of each pattern, contiguous */
    struct order_node *nodes; /* room for 2 nodes per vertex */
    atomic_uint node_count;
    uint32_t leaf;    /* maximum number of vertices of a leaf: one of the constants below */
    atomic_uint idle; /* number of threads that may be started; a thread that waits for another
                         side does not count as running */
    const struct observer *observer; /* checked before each separator, by any thread; NULL = none */
};

/* A part with at most this many vertices is a leaf; vertices of the core count twice. A leaf is
 * thus about as large as a tile of a plan (proto/plan.h). In a large graph, leaves of several tiles
 * add little work, minimum degree orders them as well as separators do, and time is saved. */
#define DISSECTION_LEAF 192
#define DISSECTION_LEAF_LARGE 1024
#define DISSECTION_LARGE_VERTICES 8192

/* More threads do not divide faster, because METIS draws its random numbers under a lock. */
#define DISSECTION_THREADS_MAX 4

/* Divides the pattern whose vertices begin at this position, sorts them, and adds the nodes of its
 * tree. Finishes take_pattern, whatever the status. If threads are idle, the separators of a large
 * pattern may differ from run to run. STATUS_NO_MEMORY, STATUS_CANCELLED. */
MUST_CHECK enum status dissection_divide(struct dissection *dissection,
                                         struct pattern *take_pattern, uint32_t begin,
                                         uint32_t *ret_node);

/* Adds a leaf and returns its number. */
uint32_t dissection_add_leaf(struct dissection *dissection, uint32_t begin, uint32_t end);

/* Finds out whether the pattern may have a small separator, that is, whether a breadth-first search
 * from a peripheral vertex has a thin level. Roads, meshes and grids have many thin levels. A
 * random graph, whose separators are too large, has only a few thick levels. The same holds for
 * some networks that have small separators but a dense core. The search takes a few percent of the
 * time of the first separator. STATUS_NO_MEMORY. */
MUST_CHECK enum status dissection_has_thin_level(const struct pattern *pattern, bool *ret_found);
