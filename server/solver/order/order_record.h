/* An order as an array of words, to be stored in a file (store/order_file.h). It serves plans and
 * hierarchies of all graphs with the same pattern, whatever their weights. */
#pragma once

#include "server/solver/order/order.h"

/* A stored order. Must be zeroed before use; the caller frees the words. */
struct order_record {
    uint32_t *words; /* NULL, or arbitrary words, which are checked */
    size_t count;
    bool fresh;                      /* the last call has replaced the words */
    const struct observer *observer; /* checked by any thread while an order is made; may be NULL */
};

/* Returns the largest number of words of a record. */
size_t order_record_limit(uint32_t vertex_count);
/* Stores the order in the record; if memory runs out, the record is unchanged. */
void order_record_put(struct order_record *record, const struct order *order);
/* Reads the order. *ret_order: owned by the caller; NULL if the words are not a valid order. */
MUST_CHECK enum status order_record_get(const struct order_record *record, uint32_t vertex_count,
                                        struct order **ret_order);
