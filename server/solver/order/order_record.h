/* An order as plain words, so that it can be kept in a file (store/order_file.h): it serves all
 * graphs of the same pattern, whatever their weights, for a plan and for a hierarchy. */
#pragma once

#include "server/solver/order/order.h"

/* Zero it before; the caller frees the words. */
struct order_record {
    uint32_t *words; /* NULL, or words that may be any: they are checked */
    size_t count;
    bool fresh;                      /* the call that has just ended has replaced the words */
    const struct observer *observer; /* asked by any thread while an order is made; or NULL */
};

/* How the planner has tiled the order: zeroed where it has not. */
struct order_tiling {
    uint32_t tile;     /* of the solver */
    uint32_t granule;  /* likewise */
    uint32_t leaf;     /* as in struct plan_layout_options; 0 = no layout paid */
    uint32_t clump;    /* likewise */
    uint32_t dense_us; /* the dense solve that a plan had to beat */
};

/* The most words of a record. */
size_t order_record_limit(uint32_t vertex_count);
/* Replaces the words; without memory the record stays as it is. */
void order_record_put(struct order_record *record, const struct order *order,
                      const struct order_tiling *tiling);
/* ret_order: the caller's; NULL where the words are no order of this many vertices. */
MUST_CHECK enum status order_record_get(const struct order_record *record, uint32_t vertex_count,
                                        struct order **ret_order, struct order_tiling *ret_tiling);
