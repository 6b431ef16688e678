#include "server/solver/order/strong_components.h"
#include "tests/lib/range_fixture.h"

#define TRIALS 3000
#define LONG_VERTICES 300000

TEST(vertices_of_a_strong_component_reach_each_other)
{
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        struct graph *graph = range_random(seed);
        if (!graph->directed) {
            graph_destroy(graph);
            continue;
        }
        struct strong_components components = {0};
        uint64_t *const d = range_distances(graph);
        const size_t n = graph->vertex_count;
        assert_int_equal(strong_components_find(graph, &components), STATUS_OK);
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < n; ++j) {
                const bool both = d[i * n + j] < RANGE_FAR && d[j * n + i] < RANGE_FAR;
                assert_int_equal(components.of[i] == components.of[j], both);
                assert_true(d[i * n + j] >= RANGE_FAR || components.of[j] <= components.of[i]);
                assert_true(both || d[i * n + j] >= RANGE_FAR ||
                            components.level[components.of[i]] <
                                components.level[components.of[j]]);
            }
        }
        strong_components_finish(&components);
        free(d);
        graph_destroy(graph);
    }
}

/* A path or a ring through all vertices causes the deepest possible search. */
TEST(a_deep_search_does_not_overflow_the_stack)
{
    struct range_edge *edges = calloc(LONG_VERTICES, sizeof(*edges));
    assert_non_null(edges);
    for (uint32_t i = 0; i < LONG_VERTICES; ++i) {
        edges[i] = (struct range_edge){i, (i + 1) % LONG_VERTICES, 1};
    }
    struct graph *path = range_build(LONG_VERTICES, edges, LONG_VERTICES - 1, true);
    struct graph *ring = range_build(LONG_VERTICES, edges, LONG_VERTICES, true);
    struct strong_components components = {0};
    assert_int_equal(strong_components_find(path, &components), STATUS_OK);
    assert_int_equal(components.count, LONG_VERTICES);
    strong_components_finish(&components);
    assert_int_equal(strong_components_find(ring, &components), STATUS_OK);
    assert_int_equal(components.count, 1);
    strong_components_finish(&components);
    graph_destroy(path);
    graph_destroy(ring);
    free(edges);
}
