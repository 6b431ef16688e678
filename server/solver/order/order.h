/* The order in which the solvers eliminate the vertices of a graph. Vertices of degree 1 and 2 are
 * eliminated first; the rest is ordered by nested dissection, and by minimum degree in the leaves.
 * A plan is tiled along the trees (plan/layout.h), and the shape of a hierarchy follows from the
 * order (hierarchy/shape.h). The order depends only on the graph's pattern, so a cached order
 * serves other weights. An order is immutable and owned by its creator. */
#pragma once

#include "server/solver/order/dissection.h"

/* The tree of a component. Components of the same level have no edges between them; edges lead from
 * lower to higher levels. */
struct order_root {
    uint32_t node;
    uint32_t level;
};

struct order {
    uint32_t vertex_count;
    uint32_t *vertex_at; /* the order: position -> vertex */
    struct order_node *nodes;
    uint32_t node_count;
    struct order_root *roots; /* ascending levels; their vertices are contiguous in this order */
    uint32_t root_count;
    uint32_t largest_separator; /* number of vertices of the largest separator */
    bool strong;                /* the components are strong components of a directed graph */
    bool partial;               /* a component was left undivided because of thin_only */
};

struct order_options {
    uint32_t threads; /* threads for the work, including the calling one; at least 1 */
    /* Divides strong components instead of connected ones, sources first and sinks last, so that a
     * plan omits tiles that no path reaches. Such an order does not suit a hierarchy. */
    bool strong;
    /* Divides a component only if dissection_has_thin_level finds a thin level. */
    bool thin_only;
    const struct observer *observer; /* checked before each separator, by any thread; NULL = none */
};

/* Computes an order. STATUS_NO_MEMORY, STATUS_CANCELLED; STATUS_TOO_LARGE: too many edges. */
MUST_CHECK enum status order_make(const struct graph *graph, const struct order_options *options,
                                  struct order **ret_order);
void order_destroy(struct order *order);
