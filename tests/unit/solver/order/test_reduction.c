#include "server/solver/order/reduction.h"
#include "tests/lib/range_fixture.h"

#define HUB_LEAVES 100000

static struct pattern make_pattern(uint32_t n, const struct range_edge *edges, size_t count)
{
    struct pattern pattern;
    struct graph *graph = range_build(n, edges, count, false);
    uint32_t *mark = calloc(n + 1, sizeof(*mark));
    assert_non_null(mark);
    assert_int_equal(pattern_make(graph, NULL, mark, &pattern), STATUS_OK);
    free(mark);
    graph_destroy(graph);
    return pattern;
}

static bool has_entry(const struct pattern *pattern, int32_t from, int32_t to)
{
    bool found = false;
    for (int32_t e = pattern->offset[from]; e < pattern->offset[from + 1]; ++e) {
        found |= pattern->target[e] == to;
    }
    return found;
}

/* Repeats the elimination in a matrix. Checks that each eliminated vertex has the reported
 * neighbours and that the reported core remains. */
static void check_elimination(const struct reduction *reduction)
{
    const struct pattern *whole = reduction->pattern;
    const uint32_t n = whole->vertex_count;
    bool *edge = calloc((size_t)n * n + 1, sizeof(*edge));
    int64_t weight = 0;
    assert_non_null(edge);
    for (uint32_t v = 0; v < n; ++v) {
        for (int32_t e = whole->offset[v]; e < whole->offset[v + 1]; ++e) {
            edge[(size_t)v * n + (uint32_t)whole->target[e]] = true;
        }
    }
    for (uint32_t at = 0; at < reduction->eliminated; ++at) {
        const uint32_t v = (uint32_t)reduction->order[at];
        uint32_t count = 0;
        uint32_t degree = 0;
        const int32_t *list = reduction_neighbours(reduction, v, &count);
        for (uint32_t i = 0; i < n; ++i) {
            degree += edge[(size_t)v * n + i];
            edge[(size_t)i * n + v] = false;
        }
        assert_in_range(count, 1, 2);
        assert_int_equal(degree, count);
        for (uint32_t i = 0; i < count; ++i) {
            assert_true(edge[(size_t)v * n + (uint32_t)list[i]]);
        }
        if (count == 2) {
            edge[(size_t)list[0] * n + (uint32_t)list[1]] = true;
            edge[(size_t)list[1] * n + (uint32_t)list[0]] = true;
        }
    }
    const int32_t *left = reduction->order + reduction->eliminated;
    for (uint32_t i = 0; i < reduction->core.vertex_count; ++i) {
        weight += reduction->core.weight[i];
        for (uint32_t j = 0; j < reduction->core.vertex_count; ++j) {
            assert_int_equal(edge[(size_t)left[i] * n + (uint32_t)left[j]],
                             has_entry(&reduction->core, (int32_t)i, (int32_t)j));
        }
    }
    assert_int_equal(weight, n);
    free(edge);
}

TEST(the_core_contains_the_vertices_that_are_not_eliminated)
{
    struct range_edge edges[400];
    for (uint32_t seed = 0; seed < 300; ++seed) {
        const uint32_t n = 2 + seed % 150;
        const size_t count = n + seed % 50;
        srand(seed);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t from = (uint32_t)rand() % n;
            edges[i] = (struct range_edge){from, (from + 1 + (uint32_t)rand() % (n - 1)) % n, 1};
        }
        struct pattern pattern = make_pattern(n, edges, count);
        struct reduction reduction;
        assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
        assert_int_equal(reduction.eliminated + reduction.core.vertex_count, n);
        check_elimination(&reduction);
        reduction_finish(&reduction);
        pattern_finish(&pattern);
    }
}

TEST(a_path_and_a_ring_are_reduced_to_a_few_vertices)
{
    struct range_edge edges[50];
    for (uint32_t i = 0; i < 50; ++i) {
        edges[i] = (struct range_edge){i, (i + 1) % 50, 1};
    }
    for (size_t count = 49; count <= 50; ++count) {
        struct pattern pattern = make_pattern(50, edges, count);
        struct reduction reduction;
        assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
        assert_in_range(reduction.core.vertex_count, 50 / 16 + 1, 50 / 3);
        check_elimination(&reduction);
        reduction_finish(&reduction);
        pattern_finish(&pattern);
    }
}

TEST(the_neighbour_list_of_a_hub_is_not_searched)
{
    struct range_edge *edges = malloc(HUB_LEAVES * sizeof(*edges));
    assert_non_null(edges);
    for (uint32_t i = 0; i < HUB_LEAVES; ++i) {
        edges[i] = (struct range_edge){0, i + 1, 1};
    }
    struct pattern pattern = make_pattern(HUB_LEAVES + 1, edges, HUB_LEAVES);
    struct reduction reduction;
    assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
    assert_int_equal(reduction.eliminated, 0);
    reduction_finish(&reduction);
    pattern_finish(&pattern);
    free(edges);
}
