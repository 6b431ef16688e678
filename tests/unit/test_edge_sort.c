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
static void fill(struct edge_i4 *edges, uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    uint64_t seed = count + vertex_count;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t ends[2] = {next(&seed, vertex_count), next(&seed, vertex_count)};

        ends[0] -= ends[0] % spread;
        edges[i] = (struct edge_i4){ends[0], ends[1], (int32_t)i};
    }
}

static bool may_precede(struct edge_i4 a, struct edge_i4 b)
{
    if (a.source != b.source) {
        return a.source < b.source;
    }
    return a.target != b.target ? a.target < b.target : a.weight < b.weight;
}

static void check(uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    struct edge_i4 *edges = calloc(count + 1, sizeof *edges);
    struct edge_i4 *copy = calloc(count + 1, sizeof *copy);
    bool *seen = calloc(count + 1, sizeof *seen);

    assert_non_null(edges);
    assert_non_null(copy);
    assert_non_null(seen);
    fill(edges, count, vertex_count, spread);
    memcpy(copy, edges, count * sizeof *edges);
    assert_int_equal(edge_sort(&edges, count, vertex_count), STATUS_OK);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)edges[i].weight;

        assert_true(place < count && !seen[place]);
        seen[place] = true;
        assert_true(edges[i].source == copy[place].source && edges[i].target == copy[place].target);
        assert_true(i == 0 || may_precede(edges[i - 1], edges[i]));
    }
    free(edges);
    free(copy);
    free(seen);
}

static void edges_are_in_order_and_parallel_ones_as_before(void **state)
{
    static const uint32_t vertices[] = {1, 2, 3, 255, 257, 1025, 25000, 1u << 20, (1u << 26) - 1};

    (void)state;
    for (size_t i = 0; i < sizeof vertices / sizeof vertices[0]; i++) {
        for (uint64_t count = 0; count < 40; count++) {
            check(count, vertices[i], 1);
        }
        check(MANY, vertices[i], 1);
    }
}

/* Nearly all edges in a few buckets. */
static void a_few_rows_may_hold_everything(void **state)
{
    (void)state;
    check(MANY, 100000, 99999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_in_order_and_parallel_ones_as_before),
        cmocka_unit_test(a_few_rows_may_hold_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
