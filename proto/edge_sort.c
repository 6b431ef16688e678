#include "proto/edge_sort.h"

#include "proto/check.h"
#include "proto/edge_array.h"

#include <stdlib.h>
#include <string.h>

/* Edges of a bucket: with their copies they stay well within a core's second-level cache. */
#define BUCKET_EDGES (UINT64_C(1) << 13)
/* More buckets than these, all written to at once, cost more than larger buckets do. */
#define BUCKET_BITS_MAX 10
/* Values of a digit, whose counters stay in the first-level cache. */
#define DIGIT_BITS_MAX 11

/* One pass: a stable counting sort by some bits of the key, source and target behind each other. */
struct digit {
    unsigned end_bits; /* of a vertex */
    unsigned shift;
    unsigned bits;
};

#define DIGIT_LIMIT 12

/* Least significant digit first. */
struct digits {
    struct digit digit[DIGIT_LIMIT];
    size_t count;
};

static unsigned bits_below(uint32_t vertex_count)
{
    unsigned bits = 0;

    while (bits < 32 && (UINT64_C(1) << bits) < vertex_count) {
        bits++;
    }
    return bits;
}

static unsigned bucket_bits(uint64_t count, unsigned source_bits)
{
    unsigned bits = 0;

    while (bits < BUCKET_BITS_MAX && bits < source_bits && count >> bits > BUCKET_EDGES) {
        bits++;
    }
    return bits;
}

/* Of the low `bits` of the key, of about equal width. */
static void add_digits(struct digits *digits, unsigned end_bits, unsigned bits)
{
    unsigned passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    unsigned shift = 0;

    for (; passes > 0; passes--) {
        unsigned width = (bits - shift + passes - 1) / passes;

        CHECK(digits->count < DIGIT_LIMIT);
        digits->digit[digits->count++] = (struct digit){end_bits, shift, width};
        shift += width;
    }
}

static inline uint32_t digit_of(const struct edge_i4 *edge, const struct digit *digit)
{
    const uint64_t key = (uint64_t)edge->source << digit->end_bits | edge->target;

    return (uint32_t)(key >> digit->shift) & ((1u << digit->bits) - 1);
}

/* place[d] = where the edges with digit d begin. */
static void count_digits(const struct edge_i4 *edges, uint64_t count, const struct digit *digit,
                         uint64_t *place)
{
    uint64_t sum = 0;

    memset(place, 0, ((size_t)1 << digit->bits) * sizeof *place);
    for (uint64_t i = 0; i < count; i++) {
        place[digit_of(&edges[i], digit)]++;
    }
    for (size_t d = 0; d < (size_t)1 << digit->bits; d++) {
        uint64_t here = place[d];

        place[d] = sum;
        sum += here;
    }
}

/* place[d] is left where the edges with digit d end. */
static void distribute(const struct edge_i4 *from, struct edge_i4 *to, uint64_t count,
                       struct digit digit, uint64_t *place)
{
    count_digits(from, count, &digit, place);
    for (uint64_t i = 0; i < count; i++) {
        to[place[digit_of(&from[i], &digit)]++] = from[i];
    }
}

/* From one array into the other and back, a pass per digit. */
static void sort_bucket(struct edge_i4 *from, struct edge_i4 *to, uint64_t count,
                        const struct digits *digits)
{
    uint64_t place[1 << DIGIT_BITS_MAX];

    for (size_t i = 0; i < digits->count; i++) {
        struct edge_i4 *sorted = to;

        distribute(from, to, count, digits->digit[i], place);
        to = from;
        from = sorted;
    }
}

/* The most significant bits of the sources first, so that the rest happens within buckets. */
static void sort_between(struct edge_i4 *edges, struct edge_i4 *other, uint64_t count,
                         struct digit first, const struct digits *digits)
{
    uint64_t end[1 << BUCKET_BITS_MAX];
    uint64_t begin = 0;

    distribute(edges, other, count, first, end);
    for (size_t bucket = 0; bucket < (size_t)1 << first.bits; bucket++) {
        sort_bucket(other + begin, edges + begin, end[bucket] - begin, digits);
        begin = end[bucket];
    }
}

enum status edge_sort(struct edge_i4 **edges, uint64_t count, uint32_t vertex_count)
{
    const unsigned end_bits = bits_below(vertex_count);
    const unsigned bits = bucket_bits(count, end_bits);
    const unsigned rest = 2 * end_bits - bits;
    struct digits digits = {0};
    struct edge_i4 *other = NULL;

    add_digits(&digits, end_bits, rest);
    if (!edge_array_resize(&other, count + 1, sizeof *other)) {
        return STATUS_NO_MEMORY;
    }
    sort_between(*edges, other, count, (struct digit){end_bits, rest, bits}, &digits);
    /* Where the last pass left them. */
    if (digits.count % 2 == 0) {
        struct edge_i4 *sorted = other;

        other = *edges;
        *edges = sorted;
    }
    free(other);
    return STATUS_OK;
}
