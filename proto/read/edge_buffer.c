#include "proto/read/edge_buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* malloc always allocates arrays of this size or more as separate mappings. */
#define LARGE_BYTES ((size_t)33 << 20)
/* Arrays above this size are rounded up to LARGE_BYTES, so that each has its own mapping. A mapping
 * is returned to the system when the array is freed, whereas a thread's heap may keep its memory.
 * The rounding costs only address space. */
#define HEAP_BYTES ((size_t)4 << 20)
#define LARGE_PAGE_BYTES ((size_t)2 << 20)
/* Maximum number of bytes that malloc stores in front of an array. */
#define FRONT_BYTES ((size_t)64)

enum status edge_array_resize(void *array_of, uint64_t count, size_t size)
{
    void **array = array_of;
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return STATUS_NO_MEMORY;
    }
    if (bytes > HEAP_BYTES) {
        /* Rounds up to whole huge pages, because Linux aligns such a mapping to a huge page and
         * does not split its pages when it grows. Memory beyond the array is not touched. */
        bytes = bytes < LARGE_BYTES ? LARGE_BYTES : bytes;
        bytes =
            ((bytes + FRONT_BYTES + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1)) - FRONT_BYTES;
    }
    void *moved = realloc(*array, bytes);
    if (moved == NULL) {
        return STATUS_NO_MEMORY;
    }
    *array = moved;
    if (bytes >= LARGE_BYTES) {
        /* Requests huge pages for the whole mapping, because Linux copies a mapping with mixed
         * flags when it grows. The call may fail: huge pages are only an optimization. */
        const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        const uintptr_t begin = (uintptr_t)moved & ~(page - 1);
        const uintptr_t end = ((uintptr_t)moved + bytes + page - 1) & ~(page - 1);

        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
    return STATUS_OK;
}

/* Up to this number, edges are sorted by copying them between two arrays of at most 1 MiB, which
 * fit in a core's second-level cache. */
#define ROOM_EDGES (UINT64_C(1) << 16)
/* Number of bits of a digit in an in-place pass. A pass writes to all buckets at the same time, so
 * with more buckets it would cost more than the deeper recursion that they save. */
#define BUCKET_BITS 9
#define BUCKETS (1u << BUCKET_BITS)
/* Maximum number of bits of a digit. Its counters still fit in the first-level cache. */
#define DIGIT_BITS_MAX 11

struct order {
    unsigned end_bits; /* bits of a vertex; an edge's key is source << end_bits | target */
    struct edge *room;
    uint64_t room_count;
};

/* Returns `bits` bits of the key of an edge, starting at bit `shift`. */
static uint32_t digit_of(const struct order *order, struct edge edge, unsigned shift, unsigned bits)
{
    return (uint32_t)(((uint64_t)edge.source << order->end_bits | edge.target) >> shift) &
           ((1u << bits) - 1);
}

/* Counts edges by digit. begin[d] is the index where digit d begins; the last entry is `count`. */
static void count_digits(const struct order *order, const struct edge *edges, uint64_t count,
                         unsigned shift, unsigned bits, uint64_t *begin)
{
    memset(begin, 0, (((size_t)1 << bits) + 1) * sizeof(*begin));
    for (uint64_t i = 0; i < count; i++) {
        begin[digit_of(order, edges[i], shift, bits) + 1]++;
    }
    for (size_t d = 0; d < (size_t)1 << bits; d++) {
        begin[d + 1] += begin[d];
    }
}

/* Sorts at most ROOM_EDGES edges by the low bits of their keys, from the least significant digit
 * on, alternating between the array and order->room. */
static void sort_few(const struct order *order, struct edge *edges, uint64_t count, unsigned bits)
{
    unsigned passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    uint64_t begin[(1 << DIGIT_BITS_MAX) + 1];
    struct edge *from = edges;
    struct edge *to = order->room;

    for (unsigned shift = 0; passes > 0; passes--) {
        const unsigned width = (bits - shift + passes - 1) / passes;
        struct edge *sorted = to;

        count_digits(order, from, count, shift, width, begin);
        for (uint64_t i = 0; i < count; i++) {
            to[begin[digit_of(order, from[i], shift, width)]++] = from[i];
        }
        shift += width;
        to = from;
        from = sorted;
    }
    if (from != edges) {
        memcpy(edges, from, count * sizeof(*edges));
    }
}

/* Swaps each edge into the bucket of its digit (American flag sort; McIlroy, Bostic, McIlroy 1993).
 */
static void distribute_edges(const struct order *order, struct edge *edges, unsigned shift,
                             unsigned bits, const uint64_t begin[BUCKETS + 1])
{
    uint64_t next[BUCKETS];

    memcpy(next, begin, sizeof(next));
    for (unsigned d = 0; d < 1u << bits; d++) {
        while (next[d] < begin[d + 1]) {
            struct edge edge = edges[next[d]];

            for (unsigned at = digit_of(order, edge, shift, bits); at != d;
                 at = digit_of(order, edge, shift, bits)) {
                struct edge *place = &edges[next[at]++];
                const struct edge other = *place;

                *place = edge;
                edge = other;
            }
            edges[next[d]++] = edge;
        }
    }
}

/* Sorts edges whose keys differ only in the low `bits` bits. The recursion depth is at most 8. */
static void sort_by(const struct order *order, struct edge *edges, uint64_t count, unsigned bits)
{
    const unsigned digit = bits < BUCKET_BITS ? bits : BUCKET_BITS;
    const unsigned shift = bits - digit;
    uint64_t begin[BUCKETS + 1];

    if (count < 2 || bits == 0) {
        return;
    }
    if (count <= order->room_count) {
        sort_few(order, edges, count, bits);
        return;
    }
    count_digits(order, edges, count, shift, digit, begin);
    distribute_edges(order, edges, shift, digit, begin);
    for (unsigned d = 0; d < 1u << digit; d++) {
        sort_by(order, edges + begin[d], begin[d + 1] - begin[d], shift);
    }
}

enum status edge_sort(struct edge *edges, uint64_t count, uint32_t vertex_count)
{
    struct order order = {.room_count = count < ROOM_EDGES ? count : ROOM_EDGES};

    while (order.end_bits < 32 && (UINT64_C(1) << order.end_bits) < vertex_count) {
        order.end_bits++;
    }
    order.room = reallocarray(NULL, order.room_count + 1, sizeof(*order.room));
    if (order.room == NULL) {
        return STATUS_NO_MEMORY;
    }
    sort_by(&order, edges, count, 2 * order.end_bits);
    free(order.room);
    return STATUS_OK;
}
