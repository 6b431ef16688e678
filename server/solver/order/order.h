/* The order of a graph's vertices in which the solvers eliminate them: nested dissection of what is
 * left after vertices of degree 1 and 2 are eliminated, and the least degree first in the leaves. A
 * plan is tiled along its trees (plan/layout.h), and a hierarchy's shape follows from its vertices
 * (hierarchy/shape.h). It depends on the graph's pattern alone, so a kept order serves other
 * weights.
 *
 * Owned by whoever made it; immutable. */
#pragma once

#include "server/solver/order/dissection.h"

/* A component's tree. Between components of one level there are no edges; edges to others lead from
 * lower levels to higher ones. */
struct order_root {
    uint32_t node;
    uint32_t level;
};

struct order {
    uint32_t vertex_count;
    uint32_t *vertex_at; /* the order: position -> vertex */
    struct order_node *nodes;
    uint32_t node_count;
    struct order_root *roots; /* levels ascending, and their vertices stand in this order */
    uint32_t root_count;
    uint32_t largest_separator; /* vertices */
    bool strong;                /* its components are the strong ones of a directed graph */
    bool partial;               /* thin_only kept a component from being divided */
};

struct order_options {
    uint32_t threads; /* threads that divide parts, the calling one included; at least 1 */
    /* Take strong components, sources first and sinks last, rather than connected ones: a plan then
     * leaves out what no path reaches. No order for a hierarchy. */
    bool strong;
    /* Divide a component only where dissection_has_thin_level. */
    bool thin_only;
    const struct observer *observer; /* asked before each separator, by any thread; NULL = none */
};

/* STATUS_NO_MEMORY, STATUS_CANCELLED; STATUS_TOO_LARGE for more edges than a pattern has. */
MUST_CHECK enum status order_make(const struct graph *graph, const struct order_options *options,
                                  struct order **ret_order);
void order_destroy(struct order *order);
