#include "proto/edge_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 300000

static uint32_t next(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

/* The weight is the place in the file, so that what is lost, doubled or swapped is seen. */
static void fill(void *edges, size_t size, uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    uint64_t seed = count + vertex_count;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t ends[2] = {next(&seed, vertex_count), next(&seed, vertex_count)};

        ends[0] -= ends[0] % spread;
        if (size == sizeof(struct edge_i4)) {
            ((struct edge_i4 *)edges)[i] = (struct edge_i4){ends[0], ends[1], (int32_t)i};
        } else {
            ((struct edge_f8 *)edges)[i] = (struct edge_f8){ends[0], ends[1], (double)i};
        }
    }
}

static struct edge_f8 get(const void *edges, size_t size, uint64_t index)
{
    if (size == sizeof(struct edge_f8)) {
        return ((const struct edge_f8 *)edges)[index];
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)edges + index;
    return (struct edge_f8){edge->source, edge->target, edge->weight};
}

static bool is_before(struct edge_f8 a, struct edge_f8 b)
{
    if (a.source != b.source) {
        return a.source < b.source;
    }
    return a.target != b.target ? a.target < b.target : a.weight < b.weight;
}

static void check(size_t size, uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    void *edges = calloc(count + 1, size);
    void *copy = calloc(count + 1, size);

    assert_non_null(edges);
    assert_non_null(copy);
    fill(edges, size, count, vertex_count, spread);
    memcpy(copy, edges, count * size);
    assert_int_equal(edge_sort(&edges, count, size, vertex_count), STATUS_OK);
    for (uint64_t i = 0; i < count; i++) {
        struct edge_f8 here = get(edges, size, i);
        struct edge_f8 there = get(copy, size, (uint64_t)here.weight);

        assert_true(here.source == there.source && here.target == there.target);
        assert_true(i == 0 || is_before(get(edges, size, i - 1), here));
    }
    free(edges);
    free(copy);
}

static void edges_are_in_order_and_parallel_ones_as_before(void **state)
{
    static const uint32_t vertices[] = {1, 2, 3, 255, 257, 1025, 25000, 1u << 20, (1u << 26) - 1};

    (void)state;
    for (size_t i = 0; i < sizeof vertices / sizeof vertices[0]; i++) {
        for (uint64_t count = 0; count < 40; count++) {
            check(sizeof(struct edge_i4), count, vertices[i], 1);
            check(sizeof(struct edge_f8), count, vertices[i], 1);
        }
        check(sizeof(struct edge_i4), MANY, vertices[i], 1);
        check(sizeof(struct edge_f8), MANY, vertices[i], 1);
    }
}

/* Nearly all edges in a few buckets. */
static void a_few_rows_may_hold_everything(void **state)
{
    (void)state;
    check(sizeof(struct edge_i4), MANY, 100000, 99999);
    check(sizeof(struct edge_f8), MANY, 100000, 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_in_order_and_parallel_ones_as_before),
        cmocka_unit_test(a_few_rows_may_hold_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
