#include "proto/real_edge_sort.h"

#include <stdlib.h>
#include <string.h>

/* Edges that are sorted between two places: 1 MiB each, of a core's second-level cache. */
#define ROOM_EDGES (UINT64_C(1) << 16)
#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)

/* What all steps of one sort share. */
struct order {
    unsigned end_bits; /* of a vertex */
    struct edge_f8 *room;
    uint64_t room_count;
};

static unsigned bits_below(uint32_t vertex_count)
{
    unsigned bits = 0;

    while (bits < 32 && (UINT64_C(1) << bits) < vertex_count) {
        bits++;
    }
    return bits;
}

/* Of the edge's key, its source and target behind each other, the digit above `shift` bits. */
static inline unsigned digit_of(const struct order *order, const struct edge_f8 *edge,
                                unsigned shift)
{
    const uint64_t key = (uint64_t)edge->source << order->end_bits | edge->target;

    return (unsigned)(key >> shift) & (DIGITS - 1);
}

/* begin[d] = where the edges with digit d begin; begin[DIGITS] = count. */
static void count_digits(const struct order *order, const struct edge_f8 *edges, uint64_t count,
                         unsigned shift, uint64_t begin[DIGITS + 1])
{
    memset(begin, 0, (DIGITS + 1) * sizeof *begin);
    for (uint64_t i = 0; i < count; i++) {
        begin[digit_of(order, &edges[i], shift) + 1]++;
    }
    for (unsigned d = 0; d < DIGITS; d++) {
        begin[d + 1] += begin[d];
    }
}

/* Few edges, by their low `bits`: least significant digit first, from place to place. */
static void sort_few(const struct order *order, struct edge_f8 *edges, uint64_t count,
                     unsigned bits)
{
    struct edge_f8 *from = edges;
    struct edge_f8 *to = order->room;
    uint64_t begin[DIGITS + 1];

    for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) {
        struct edge_f8 *sorted = to;

        count_digits(order, from, count, shift, begin);
        for (uint64_t i = 0; i < count; i++) {
            to[begin[digit_of(order, &from[i], shift)]++] = from[i];
        }
        to = from;
        from = sorted;
    }
    if (from != edges) {
        memcpy(edges, from, count * sizeof *edges);
    }
}

/* Swaps each edge to where its digit belongs (McIlroy, Bostic, McIlroy 1993: American flag sort).
 */
static void distribute(const struct order *order, struct edge_f8 *edges, unsigned shift,
                       const uint64_t begin[DIGITS + 1])
{
    uint64_t next[DIGITS];

    memcpy(next, begin, sizeof next);
    for (unsigned d = 0; d < DIGITS; d++) {
        while (next[d] < begin[d + 1]) {
            struct edge_f8 edge = edges[next[d]];

            for (unsigned at = digit_of(order, &edge, shift); at != d;
                 at = digit_of(order, &edge, shift)) {
                struct edge_f8 other = edges[next[at]];

                edges[next[at]++] = edge;
                edge = other;
            }
            edges[next[d]++] = edge;
        }
    }
}

/* By the low `bits` of their keys, in which alone they differ; at most 8 calls deep. */
static void sort_by(const struct order *order, struct edge_f8 *edges, uint64_t count, unsigned bits)
{
    uint64_t begin[DIGITS + 1];

    if (count < 2 || bits == 0) {
        return;
    }
    if (count <= order->room_count) {
        sort_few(order, edges, count, bits);
        return;
    }
    const unsigned shift = bits > DIGIT_BITS ? bits - DIGIT_BITS : 0;

    count_digits(order, edges, count, shift, begin);
    distribute(order, edges, shift, begin);
    for (unsigned d = 0; d < DIGITS; d++) {
        sort_by(order, edges + begin[d], begin[d + 1] - begin[d], shift);
    }
}

enum status real_edge_sort(struct edge_f8 *edges, uint64_t count, uint32_t vertex_count)
{
    struct order order = {.end_bits = bits_below(vertex_count)};

    order.room_count = count < ROOM_EDGES ? count : ROOM_EDGES;
    order.room = reallocarray(NULL, order.room_count + 1, sizeof *order.room);
    if (order.room == NULL) {
        return STATUS_NO_MEMORY;
    }
    sort_by(&order, edges, count, 2 * order.end_bits);
    free(order.room);
    return STATUS_OK;
}
