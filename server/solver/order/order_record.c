/* The words of a record: a header, the vertices in order, one word per node of the trees in
 * postorder, and the level of each root. */
#include "server/solver/order/order_record.h"

#include <stdlib.h>
#include <string.h>

struct head {
    uint32_t vertex_count;
    uint32_t node_count;
    uint32_t root_count;
    uint32_t strong;
    uint32_t partial;
};
#define HEAD_WORDS (sizeof(struct head) / sizeof(uint32_t))

/* The word of a node is the number of its own vertices, with this bit set for a leaf. */
#define LEAF_BIT (UINT32_C(1) << 31)

/* Limit on the height of a tree, because trees are walked recursively. No valid tree is higher,
 * because each side has at most 9/10 of its node's vertices. */
#define HEIGHT_MAX 256

size_t order_record_limit(uint32_t vertex_count)
{
    return HEAD_WORDS + 4 * (size_t)vertex_count + 1;
}

void order_record_put(struct order_record *record, const struct order *order)
{
    const size_t count =
        HEAD_WORDS + (size_t)order->vertex_count + order->node_count + order->root_count;
    uint32_t *words = malloc(count * sizeof(*words));
    if (words == NULL) {
        return;
    }
    *(struct head *)words = (struct head){.vertex_count = order->vertex_count,
                                          .node_count = order->node_count,
                                          .root_count = order->root_count,
                                          .strong = order->strong,
                                          .partial = order->partial};
    uint32_t *next = words + HEAD_WORDS;
    memcpy(next, order->vertex_at, order->vertex_count * sizeof(*next));
    next += order->vertex_count;
    for (uint32_t i = 0; i < order->node_count; i++) {
        const struct order_node *node = &order->nodes[i];
        *next++ = (node->end - node->separator) | (node->child[0] == NO_NODE ? LEAF_BIT : 0);
    }
    for (uint32_t i = 0; i < order->root_count; i++) {
        *next++ = order->roots[i].level;
    }
    free(record->words);
    record->words = words;
    record->count = count;
    record->fresh = true;
}

/* Returns whether each vertex occurs exactly once in the order. seen: zeroed scratch. */
static bool is_permutation(const struct order *order, bool *seen)
{
    for (uint32_t i = 0; i < order->vertex_count; i++) {
        const uint32_t vertex = order->vertex_at[i];
        if (vertex >= order->vertex_count || seen[vertex]) {
            return false;
        }
        seen[vertex] = true;
    }
    return true;
}

/* Reads the nodes from their words. Meanwhile order->roots is the stack of trees without a parent,
 * and the level of a root is the height of its tree. Returns false if the words are not trees over
 * all vertices. */
static bool read_trees(struct order *order, const uint32_t *words, uint32_t root_count)
{
    uint64_t at = 0;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < order->node_count; i++) {
        const bool is_leaf = (words[i] & LEAF_BIT) != 0;
        struct order_node node = {
            .begin = (uint32_t)at, .separator = (uint32_t)at, .child = {NO_NODE, NO_NODE}};
        at += words[i] & ~LEAF_BIT;
        if (at > order->vertex_count || (!is_leaf && depth < 2)) {
            return false;
        }
        node.end = (uint32_t)at;
        uint32_t height = 0;
        for (uint32_t side = 0; side < 2 && !is_leaf; side++) {
            const struct order_root *child = &order->roots[depth - 2 + side];
            node.child[side] = child->node;
            height = child->level < height ? height : child->level + 1;
        }
        if (height > HEIGHT_MAX) {
            return false;
        }
        node.begin = is_leaf ? node.begin : order->nodes[node.child[0]].begin;
        depth -= is_leaf ? 0 : 2;
        order->nodes[i] = node;
        order->roots[depth++] = (struct order_root){.node = i, .level = height};
        if (!is_leaf && node.end - node.separator > order->largest_separator) {
            order->largest_separator = node.end - node.separator;
        }
    }
    order->root_count = root_count;
    for (uint32_t i = 0; i < root_count; i++) {
        order->roots[i].level = words[order->node_count + i];
    }
    return at == order->vertex_count && depth == root_count;
}

enum status order_record_get(const struct order_record *record, uint32_t vertex_count,
                             struct order **ret_order)
{
    const struct head *head = (const struct head *)record->words;
    *ret_order = NULL;
    if (head == NULL || record->count < HEAD_WORDS || head->vertex_count != vertex_count ||
        record->count !=
            HEAD_WORDS + (uint64_t)vertex_count + head->node_count + head->root_count ||
        head->root_count > head->node_count) {
        return STATUS_OK;
    }
    const uint32_t *words = record->words + HEAD_WORDS;
    const size_t nodes = head->node_count;
    struct order *order = calloc(1, sizeof(*order));
    bool *seen = calloc((size_t)vertex_count + 1, sizeof(*seen));
    enum status status = STATUS_NO_MEMORY;
    if (order != NULL && seen != NULL) {
        order->vertex_count = vertex_count;
        order->strong = head->strong != 0;
        order->partial = head->partial != 0;
        order->node_count = head->node_count;
        order->vertex_at = malloc(((size_t)vertex_count + 1) * sizeof(*order->vertex_at));
        order->nodes = malloc((nodes + 1) * sizeof(*order->nodes));
        order->roots = malloc((nodes + 1) * sizeof(*order->roots));
        if (order->vertex_at != NULL && order->nodes != NULL && order->roots != NULL) {
            status = STATUS_OK;
            memcpy(order->vertex_at, words, vertex_count * sizeof(*words));
        }
    }
    if (status == STATUS_OK && is_permutation(order, seen) &&
        read_trees(order, words + vertex_count, head->root_count)) {
        *ret_order = order;
        order = NULL;
    }
    order_destroy(order);
    free(seen);
    return status;
}
