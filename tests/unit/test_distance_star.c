#include "server/solver/distance_star.h"
#include "tests/unit/range_fixture.h"

#define TRIALS 5000

static bool reaches_all(const struct graph *graph)
{
    uint64_t *const d = range_distances(graph);
    const size_t n = graph->vertex_count;
    bool reached = true;
    for (size_t i = 0; i < n * n; ++i) {
        reached = reached && d[i] < RANGE_FAR;
    }
    free(d);
    return reached;
}

static void no_distance_exceeds_the_bound(void **state)
{
    (void)state;
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        struct graph *graph = range_random(seed);
        const uint32_t limit = seed % 2 == 0 ? INT32_MAX : (uint32_t)seed;
        uint32_t bound = 0;
        if (distance_star_bound(graph, limit, UINT64_MAX, &bound)) {
            assert_true(reaches_all(graph));
            assert_true(range_longest(graph) <= bound && bound <= limit);
            ++found;
        }
        graph_destroy(graph);
    }
    assert_true(found > TRIALS / 20);
}

/* Two weights, of which the hub's row and column have the small one. */
static void a_complete_graph_is_bounded_by_its_weights(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; ++directed) {
        struct range_edge edges[RANGE_VERTICES * RANGE_VERTICES];
        size_t count = 0;
        for (uint32_t i = 0; i < RANGE_VERTICES; ++i) {
            for (uint32_t j = 0; j < RANGE_VERTICES; ++j) {
                edges[count++] = (struct range_edge){i, j, i == 0 || j == 0 ? 7 : 1000};
            }
        }
        struct graph *graph = range_build(RANGE_VERTICES, edges, count, directed);
        uint32_t bound = 0;
        assert_true(distance_star_bound(graph, 100, UINT64_MAX, &bound));
        assert_int_equal(bound, 14);
        assert_false(distance_star_bound(graph, 13, UINT64_MAX, &bound));
        graph_destroy(graph);
    }
}

static void the_largest_weights_do_not_overflow(void **state)
{
    (void)state;
    const struct range_edge ring[] = {{0, 1, INT32_MAX}, {1, 2, INT32_MAX}, {2, 0, INT32_MAX}};
    struct graph *graph = range_build(3, ring, 3, true);
    uint32_t bound = 0;
    assert_false(distance_star_bound(graph, INT32_MAX, UINT64_MAX, &bound));
    graph_destroy(graph);
}

static void no_more_edges_are_read_than_the_budget_has(void **state)
{
    (void)state;
    const struct range_edge ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};
    struct graph *graph = range_build(4, ring, 4, true);
    uint32_t bound = 0;
    assert_true(distance_star_bound(graph, 100, UINT64_MAX, &bound));
    assert_false(distance_star_bound(graph, 100, 1, &bound));
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_distance_exceeds_the_bound),
        cmocka_unit_test(a_complete_graph_is_bounded_by_its_weights),
        cmocka_unit_test(the_largest_weights_do_not_overflow),
        cmocka_unit_test(no_more_edges_are_read_than_the_budget_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
