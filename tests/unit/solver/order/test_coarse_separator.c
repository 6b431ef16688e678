#include "server/solver/order/coarse_separator.h"

#include "tests/lib/range_fixture.h"

#include <string.h>

#define GRID 45
#define HALF (GRID * GRID)
#define VERTICES (2 * HALF)

static uint32_t scratch[3 * VERTICES];
static int32_t side[VERTICES];
static int32_t expected[VERTICES];

static struct pattern make_pattern(const struct graph *graph)
{
    struct pattern pattern;
    assert_int_equal(pattern_make(graph, NULL, scratch, &pattern), STATUS_OK);
    return pattern;
}

static void assert_as_without_clusters(const struct pattern *pattern)
{
    const size_t size = pattern->vertex_count * sizeof(*side);
    assert_int_equal(separator_find(pattern, NULL, expected), STATUS_OK);
    assert_int_equal(coarse_separator_find(pattern, scratch, side), STATUS_OK);
    assert_memory_equal(side, expected, size);
}

TEST(a_grid_is_separated_without_clusters)
{
    struct graph *graph = range_grid(GRID);
    struct pattern pattern = make_pattern(graph);
    assert_as_without_clusters(&pattern);
    pattern_finish(&pattern);
    graph_destroy(graph);
}

/* A ring with random chords, all of whose separators are large. */
TEST(a_random_graph_is_separated_without_clusters)
{
    static struct range_edge edges[2 * VERTICES];
    uint64_t seed = 1;
    for (uint32_t vertex = 0; vertex < VERTICES; ++vertex) {
        edges[2 * vertex] = (struct range_edge){vertex, (vertex + 1) % VERTICES, 1};
        edges[2 * vertex + 1] = (struct range_edge){vertex, range_next(&seed, VERTICES), 1};
    }
    struct graph *graph = range_build(VERTICES, edges, 2 * VERTICES, false);
    struct pattern pattern = make_pattern(graph);
    assert_as_without_clusters(&pattern);
    pattern_finish(&pattern);
    graph_destroy(graph);
}

static uint32_t count_side(const int32_t *sides, uint32_t count, int32_t which)
{
    uint32_t found = 0;
    for (uint32_t vertex = 0; vertex < count; ++vertex) {
        found += sides[vertex] == which;
    }
    return found;
}

/* Grids without a fifth of their edges, like roads. */
TEST(cuts_of_roads_are_smaller_than_separators_of_metis)
{
    static struct range_edge edges[2 * HALF];
    uint32_t cuts = 0;
    uint32_t separators = 0;
    for (uint64_t number = 1; number <= 10; ++number) {
        uint64_t seed = number;
        size_t count = 0;
        for (uint32_t vertex = 0; vertex < HALF; ++vertex) {
            if (vertex % GRID + 1 < GRID && range_next(&seed, 10) < 8) {
                edges[count++] = (struct range_edge){vertex, vertex + 1, 1};
            }
            if (vertex + GRID < HALF && range_next(&seed, 10) < 8) {
                edges[count++] = (struct range_edge){vertex, vertex + GRID, 1};
            }
        }
        struct graph *graph = range_build(HALF, edges, count, false);
        struct pattern pattern = make_pattern(graph);
        assert_int_equal(separator_find(&pattern, NULL, expected), STATUS_OK);
        assert_int_equal(coarse_separator_find(&pattern, scratch, side), STATUS_OK);
        cuts += count_side(side, HALF, SIDE_SEPARATOR);
        separators += count_side(expected, HALF, SIDE_SEPARATOR);
        pattern_finish(&pattern);
        graph_destroy(graph);
    }
    assert_true(cuts < separators || !separator_present());
}

/* A star, all of whose vertices are near the hub, and a grid of 10 columns joined to the hub. */
TEST(a_side_within_the_band_is_not_lost)
{
    static struct range_edge edges[2 * VERTICES];
    const uint32_t first = VERTICES * 45 / 100;
    size_t count = 0;
    for (uint32_t vertex = 1; vertex < VERTICES; ++vertex) {
        const bool is_in_grid = vertex > first;
        if (!is_in_grid || (vertex - first) % 10 != 0) {
            edges[count++] = (struct range_edge){is_in_grid ? vertex - 1 : 0, vertex, 1};
        }
        if (vertex >= first + 10) {
            edges[count++] = (struct range_edge){vertex - 10, vertex, 1};
        }
    }
    struct graph *graph = range_build(VERTICES, edges, count, false);
    struct pattern pattern = make_pattern(graph);
    assert_int_equal(coarse_separator_find(&pattern, scratch, side), STATUS_OK);
    for (int32_t which = SIDE_FIRST; which <= SIDE_SECOND; ++which) {
        assert_true(count_side(side, VERTICES, which) > VERTICES / 10 || !separator_present());
    }
    pattern_finish(&pattern);
    graph_destroy(graph);
}
