#include "proto/real_edge_sort.h"

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
static void fill(struct edge_f8 *edges, uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    uint64_t seed = count + vertex_count;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t ends[2] = {next(&seed, vertex_count), next(&seed, vertex_count)};

        ends[0] -= ends[0] % spread;
        edges[i] = (struct edge_f8){ends[0], ends[1], (double)i};
    }
}

static bool may_precede(struct edge_f8 a, struct edge_f8 b)
{
    if (a.source != b.source) {
        return a.source < b.source;
    }
    return a.target <= b.target;
}

static void check(uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    struct edge_f8 *edges = calloc(count + 1, sizeof *edges);
    struct edge_f8 *copy = calloc(count + 1, sizeof *copy);
    bool *seen = calloc(count + 1, sizeof *seen);

    assert_non_null(edges);
    assert_non_null(copy);
    assert_non_null(seen);
    fill(edges, count, vertex_count, spread);
    memcpy(copy, edges, count * sizeof *edges);
    assert_int_equal(real_edge_sort(edges, count, vertex_count), STATUS_OK);
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

static void edges_are_in_order(void **state)
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
    check(MANY, 100000, 40000);
}

/* More of them than are sorted between two places. */
static void parallel_edges_all_stay(void **state)
{
    (void)state;
    check(MANY, 1u << 26, 1u << 26);
    check(MANY, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_in_order),
        cmocka_unit_test(a_few_rows_may_hold_everything),
        cmocka_unit_test(parallel_edges_all_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
