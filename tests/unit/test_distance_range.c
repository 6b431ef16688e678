#include "server/solver/distance_range.h"
#include "tests/unit/range_fixture.h"

#define TRIALS 10000
#define PLENTY_S 1e9

/* The answer is yes from some limit on: the least, by halving. */
static uint32_t find_bound(const struct graph *graph, double affordable_s)
{
    uint32_t low = 0;
    uint32_t high = INT32_MAX;
    assert_true(distance_range_within(graph, high, affordable_s));
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (distance_range_within(graph, middle, affordable_s)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static void no_distance_exceeds_what_is_proven(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        struct graph *graph = range_random(seed);
        const uint64_t longest = range_longest(graph);
        assert_true(longest <= find_bound(graph, PLENTY_S));
        assert_true(longest == 0 || !distance_range_within(graph, (uint32_t)longest - 1, PLENTY_S));
        assert_true(longest <= find_bound(graph, 0));
        graph_destroy(graph);
    }
}

/* Rings of ten, each with one way into the next, and one weight far above all distances that a
 * shorter way makes useless. */
static void components_are_added_up_along_their_edges(void **state)
{
    (void)state;
    struct range_edge edges[64];
    size_t count = 0;
    for (uint32_t i = 0; i < 30; ++i) {
        edges[count++] = (struct range_edge){i, i % 10 == 9 ? i - 9 : i + 1, 1};
    }
    edges[count++] = (struct range_edge){3, 14, 100};
    edges[count++] = (struct range_edge){17, 28, 200};
    edges[count++] = (struct range_edge){5, 9, 1000000};
    struct graph *graph = range_build(30, edges, count, true);
    const uint64_t longest = range_longest(graph);
    const uint32_t bound = find_bound(graph, PLENTY_S);
    assert_true(bound >= longest && bound <= 300 + 3 * 18);
    assert_true(find_bound(graph, 0) > 1000000);
    graph_destroy(graph);
}

/* A wheel: every two vertices are two spokes apart, however long the rim. */
static struct graph *build_wheel(uint32_t vertex_count, bool directed)
{
    struct range_edge *edges = calloc((size_t)vertex_count * 3, sizeof(*edges));
    size_t count = 0;
    assert_non_null(edges);
    for (uint32_t i = 1; i < vertex_count; ++i) {
        edges[count++] = (struct range_edge){0, i, 5};
        edges[count++] = (struct range_edge){i, 0, 5};
        edges[count++] = (struct range_edge){i, i % (vertex_count - 1) + 1, 90000};
    }
    struct graph *graph = range_build(vertex_count, edges, count, directed);
    free(edges);
    return graph;
}

static void an_easy_graph_is_proven(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = build_wheel(5000, directed);
        assert_true(graph->summary.distance_bound > 32766);
        assert_true(distance_range_within(graph, 10, 1));
        assert_false(distance_range_within(graph, 9, 1));
        assert_false(distance_range_within(graph, 10, 1e-6));
        graph_destroy(graph);
    }
}

static void weights_below_0_and_decimals_prove_nothing(void **state)
{
    (void)state;
    const struct range_edge below[] = {{0, 1, -1}};
    struct graph *graph = range_build(2, below, 1, true);
    assert_false(distance_range_within(graph, INT32_MAX, PLENTY_S));
    graph_destroy(graph);
    const struct range_edge one[] = {{0, 1, 1}};
    graph = range_build(2, one, 1, true);
    graph->weight_f8 = calloc(1, sizeof(*graph->weight_f8));
    assert_non_null(graph->weight_f8);
    graph->weight_f8[0] = 0.5;
    graph->weight_type = WEIGHT_REAL;
    free(graph->weight_i4);
    graph->weight_i4 = NULL;
    assert_false(distance_range_within(graph, INT32_MAX, PLENTY_S));
    graph_destroy(graph);
}

static void a_graph_without_edges_has_no_distance_but_0(void **state)
{
    (void)state;
    for (uint32_t vertex_count = 0; vertex_count < 3; ++vertex_count) {
        struct graph *graph = range_build(vertex_count, NULL, 0, true);
        assert_true(distance_range_within(graph, 0, 0));
        graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_distance_exceeds_what_is_proven),
        cmocka_unit_test(components_are_added_up_along_their_edges),
        cmocka_unit_test(an_easy_graph_is_proven),
        cmocka_unit_test(weights_below_0_and_decimals_prove_nothing),
        cmocka_unit_test(a_graph_without_edges_has_no_distance_but_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
