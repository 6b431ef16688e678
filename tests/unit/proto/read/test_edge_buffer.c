#include "proto/read/edge_buffer.h"
#include "tests/lib/test.h"

#include <stdbool.h>

#define MANY 300000

static uint32_t next(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

/* Fills a buffer and checks the sorted edges. The weight of an edge is its position in the input,
 * so that lost, duplicated and swapped edges are detected. */
static void check(uint64_t count, uint32_t vertex_count, uint32_t spread)
{
    struct edge *edges = calloc(count + 1, sizeof(*edges));
    struct edge *copy = calloc(count + 1, sizeof(*copy));
    bool *seen = calloc(count + 1, sizeof(*seen));
    uint64_t seed = count + vertex_count;
    struct edge last = {0};

    assert_non_null(edges);
    assert_non_null(copy);
    assert_non_null(seen);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t ends[2] = {next(&seed, vertex_count), next(&seed, vertex_count)};

        copy[i] = (struct edge){ends[0] - ends[0] % spread, ends[1], (double)i};
        edges[i] = copy[i];
    }
    assert_int_equal(edge_sort(edges, count, vertex_count), STATUS_OK);
    for (uint64_t i = 0; i < count; i++) {
        const struct edge edge = edges[i];
        const uint64_t place = (uint64_t)edge.weight;

        assert_true(place < count && !seen[place]);
        seen[place] = true;
        assert_true(edge.source == copy[place].source && edge.target == copy[place].target);
        assert_true(edge.source > last.source ||
                    (edge.source == last.source && edge.target >= last.target));
        last = edge;
    }
    free(edges);
    free(copy);
    free(seen);
}

TEST(edges_are_sorted_by_row_and_target)
{
    static const uint32_t vertices[] = {1, 2, 3, 255, 257, 1025, 25000, 1u << 20, (1u << 26) - 1};

    for (size_t i = 0; i < sizeof(vertices) / sizeof(vertices[0]); i++) {
        for (uint64_t count = 0; count < 40; count++) {
            check(count, vertices[i], 1);
        }
        check(MANY, vertices[i], 1);
    }
}

TEST(a_few_rows_may_contain_nearly_all_edges)
{
    check(MANY, 100000, 99999);
    check(MANY, 100000, 40000);
}

/* The parallel edges are too many to be sorted between two arrays, so they are sorted in place. */
TEST(all_parallel_edges_are_kept)
{
    check(MANY, 1u << 26, 1u << 26);
    check(MANY, 1, 1);
}

#define LARGE (UINT64_C(12) << 20)

TEST(edges_are_preserved_while_the_buffer_grows)
{
    static const uint64_t counts[] = {1, 1000, 1 << 20, LARGE, 2 * LARGE, LARGE, 1000, 1};
    uint32_t *array = NULL;
    uint64_t filled = 0;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(edge_array_resize(&array, counts[i], sizeof *array), STATUS_OK);
        filled = filled < counts[i] ? filled : counts[i];
        for (uint64_t at = 0; at < filled; at += 999) {
            assert_int_equal(array[at], at);
        }
        for (; filled < counts[i]; filled++) {
            array[filled] = (uint32_t)filled;
        }
    }
    free(array);
}

TEST(a_buffer_larger_than_memory_is_refused)
{
    uint32_t *array = NULL;

    assert_int_equal(edge_array_resize(&array, 1, sizeof *array), STATUS_OK);
    array[0] = 7;
    assert_int_equal(edge_array_resize(&array, UINT64_MAX / 2, sizeof *array), STATUS_NO_MEMORY);
    assert_int_equal(edge_array_resize(&array, UINT64_MAX / sizeof *array, sizeof *array),
                     STATUS_NO_MEMORY);
    assert_int_equal(array[0], 7);
    free(array);
}
