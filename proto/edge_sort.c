#include "proto/edge_sort.h"

#include "proto/check.h"

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

/* Both ends are at the same place in either struct. */
static inline uint32_t digit_of(const char *edge, const struct digit *digit)
{
    uint32_t end;

    memcpy(&end, edge + (digit->by_target ? offsetof(struct edge_i4, target) : 0), sizeof end);
    return end >> digit->shift & ((1u << digit->bits) - 1);
}

/* place[d] = where the edges with digit d begin. */
static inline void count_digits(const char *edges, uint64_t count, size_t size,
                                const struct digit *digit, uint64_t *place)
{
    uint64_t sum = 0;

    memset(place, 0, ((size_t)1 << digit->bits) * sizeof *place);
    for (uint64_t i = 0; i < count; i++) {
        place[digit_of(edges + i * size, digit)]++;
    }
    for (size_t d = 0; d < (size_t)1 << digit->bits; d++) {
        uint64_t here = place[d];

        place[d] = sum;
        sum += here;
    }
}

static inline __attribute__((always_inline)) void distribute_sized(const char *from, char *to,
                                                                   uint64_t count, size_t size,
                                                                   struct digit digit,
                                                                   uint64_t *place)
{
    count_digits(from, count, size, &digit, place);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(to + place[digit_of(from + i * size, &digit)]++ * size, from + i * size, size);
    }
}

/* place[d] is left where the edges with digit d end. With the constant sizes each edge is moved in
 * registers. */
static void distribute(const char *from, char *to, uint64_t count, size_t size, struct digit digit,
                       uint64_t *place)
{
    if (size == sizeof(struct edge_i4)) {
        distribute_sized(from, to, count, sizeof(struct edge_i4), digit, place);
    } else {
        distribute_sized(from, to, count, sizeof(struct edge_f8), digit, place);
    }
}

/* From one array into the other and back, a pass per digit. */
static void sort_bucket(char *from, char *to, uint64_t count, size_t size,
                        const struct digits *digits)
{
    uint64_t place[1 << DIGIT_BITS_MAX];

    for (size_t i = 0; i < digits->count; i++) {
        char *sorted = to;

        distribute(from, to, count, size, digits->digit[i], place);
        to = from;
        from = sorted;
    }
}

/* The most significant bits of the sources first, so that the rest happens within buckets. */
static void sort_between(char *edges, char *other, uint64_t count, size_t size, unsigned bits,
                         unsigned shift, const struct digits *digits)
{
    uint64_t end[1 << BUCKET_BITS_MAX];
    uint64_t begin = 0;

    distribute(edges, other, count, size, (struct digit){false, shift, bits}, end);
    for (size_t bucket = 0; bucket < (size_t)1 << bits; bucket++) {
        sort_bucket(other + begin * size, edges + begin * size, end[bucket] - begin, size, digits);
        begin = end[bucket];
    }
}

enum status edge_sort(void **edges, uint64_t count, size_t size, uint32_t vertex_count)
{
    unsigned source_bits = bits_below(vertex_count);
    unsigned bits = bucket_bits(count, source_bits);
    struct digits digits = {0};
    void *other;

    CHECK(size == sizeof(struct edge_i4) || size == sizeof(struct edge_f8));
    add_digits(&digits, true, source_bits);
    add_digits(&digits, false, source_bits - bits);
    other = reallocarray(NULL, count + 1, size);
    if (other == NULL) {
        return STATUS_NO_MEMORY;
    }
    sort_between(*edges, other, count, size, bits, source_bits - bits, &digits);
    /* Where the last pass left them. */
    if (digits.count % 2 == 0) {
        void *sorted = other;

        other = *edges;
        *edges = sorted;
    }
    free(other);
    return STATUS_OK;
}
