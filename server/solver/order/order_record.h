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

/* The most words of a record. */
size_t order_record_limit(uint32_t vertex_count);
/* Replaces the words; without memory the record stays as it is. */
void order_record_put(struct order_record *record, const struct order *order);
/* ret_order: the caller's; NULL where the words are no order of this many vertices. */
MUST_CHECK enum status order_record_get(const struct order_record *record, uint32_t vertex_count,
                                        struct order **ret_order);
