#include "proto/edge_sort.h"

#include "proto/check.h"
#include "proto/edge_array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Edges of a bucket: with their copies they stay in a core's second-level cache. */
#define BUCKET_EDGES (UINT64_C(1) << 15)
/* More buckets than these, all written to at once, cost more than larger buckets do. */
#define BUCKET_BITS_MAX 9
/* Values of a digit, whose counters stay in the first-level cache. */
#define DIGIT_BITS_MAX 10

/* One pass: a stable counting sort by some bits of one end. */
struct digit {
    bool by_target;
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

/* Of about equal width. */
static void add_digits(struct digits *digits, bool by_target, unsigned bits)
{
    unsigned passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    unsigned shift = 0;

    for (; passes > 0; passes--) {
        unsigned width = (bits - shift + passes - 1) / passes;

        CHECK(digits->count < DIGIT_LIMIT);
        digits->digit[digits->count++] = (struct digit){by_target, shift, width};
        shift += width;
    }
}

static inline uint32_t digit_of(const struct edge_i4 *edge, const struct digit *digit)
{
    const uint32_t end = digit->by_target ? edge->target : edge->source;

    return end >> digit->shift & ((1u << digit->bits) - 1);
}

static void count_digits(const struct edge_i4 *edges, uint64_t count, struct digit digit,
                         uint64_t *place)
{
    memset(place, 0, ((size_t)1 << digit.bits) * sizeof *place);
    for (uint64_t i = 0; i < count; i++) {
        place[digit_of(&edges[i], &digit)]++;
    }
}

/* From how many edges have a digit to where those begin: place[d] of digit d. */
static void add_up(uint64_t *place, unsigned bits)
{
    uint64_t sum = 0;

    for (size_t d = 0; d < (size_t)1 << bits; d++) {
        uint64_t here = place[d];

        place[d] = sum;
        sum += here;
    }
}

/* place[d] is left where the edges with digit d end. next: the digit of the pass after this one,
 * which is counted on the way; NULL after the last. */
static void distribute(const struct edge_i4 *from, struct edge_i4 *to, uint64_t count,
                       struct digit digit, uint64_t *place, const struct digit *next,
                       uint64_t *next_place)
{
    add_up(place, digit.bits);
    if (next == NULL) {
        for (uint64_t i = 0; i < count; i++) {
            to[place[digit_of(&from[i], &digit)]++] = from[i];
        }
        return;
    }
    const struct digit after = *next;

    memset(next_place, 0, ((size_t)1 << after.bits) * sizeof *next_place);
    for (uint64_t i = 0; i < count; i++) {
        to[place[digit_of(&from[i], &digit)]++] = from[i];
        next_place[digit_of(&from[i], &after)]++;
    }
}

/* From one array into the other and back, a pass per digit. */
static void sort_bucket(struct edge_i4 *from, struct edge_i4 *to, uint64_t count,
                        const struct digits *digits)
{
    uint64_t places[2][1 << DIGIT_BITS_MAX];
    const struct digit *end = digits->digit + digits->count;

    if (digits->count > 0) {
        count_digits(from, count, digits->digit[0], places[0]);
    }
    for (size_t i = 0; i < digits->count; i++) {
        const struct digit *digit = &digits->digit[i];
        struct edge_i4 *sorted = to;

        distribute(from, to, count, *digit, places[i % 2], digit + 1 < end ? digit + 1 : NULL,
                   places[1 - i % 2]);
        to = from;
        from = sorted;
    }
}

/* The most significant bits of the sources first, so that the rest happens within buckets. */
static void sort_between(struct edge_i4 *edges, struct edge_i4 *other, uint64_t count,
                         unsigned bits, unsigned shift, const struct digits *digits)
{
    const struct digit first = {false, shift, bits};
    uint64_t end[1 << BUCKET_BITS_MAX];
    uint64_t begin = 0;

    count_digits(edges, count, first, end);
    distribute(edges, other, count, first, end, NULL, NULL);
    for (size_t bucket = 0; bucket < (size_t)1 << bits; bucket++) {
        sort_bucket(other + begin, edges + begin, end[bucket] - begin, digits);
        begin = end[bucket];
    }
}

enum status edge_sort(struct edge_i4 **edges, uint64_t count, uint32_t vertex_count)
{
    unsigned source_bits = bits_below(vertex_count);
    unsigned bits = bucket_bits(count, source_bits);
    struct digits digits = {0};
    struct edge_i4 *other = NULL;

    add_digits(&digits, true, source_bits);
    add_digits(&digits, false, source_bits - bits);
    if (!edge_array_resize(&other, count + 1, sizeof *other)) {
        return STATUS_NO_MEMORY;
    }
    sort_between(*edges, other, count, bits, source_bits - bits, &digits);
    /* Where the last pass left them. */
    if (digits.count % 2 == 0) {
        struct edge_i4 *sorted = other;

        other = *edges;
        *edges = sorted;
    }
    free(other);
    return STATUS_OK;
}
