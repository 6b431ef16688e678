#include "server/solver/distance_range.h"
#include "tests/lib/range_fixture.h"

#define TRIALS 10000
#define PLENTY_S 1e9

/* Returns whether the limit is proven with paths in the graph, but not with the weights alone. */
static bool is_proven_by_ways(const struct graph *graph, uint32_t limit)
{
    return distance_range_within(graph, limit, PLENTY_S) && !distance_range_within(graph, limit, 0);
}

/* Finds the least limit that can be proven, by bisection, which works because all larger limits can
 * be proven too. */
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

TEST(no_distance_exceeds_the_proven_bound)
{
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        struct graph *graph = range_random(seed);
        const uint64_t longest = range_longest(graph);
        const uint32_t bound = find_bound(graph, PLENTY_S);
        assert_true(longest <= bound && bound <= find_bound(graph, 0));
        assert_true(longest == 0 || !distance_range_within(graph, (uint32_t)longest - 1, PLENTY_S));
        found += is_proven_by_ways(graph, bound);
        graph_destroy(graph);
    }
    assert_true(found > TRIALS / 20);
}

/* The edges have one of two weights. Edges to and from the hub have the smaller weight. */
TEST(a_complete_graph_is_bounded_by_paths_through_its_hub)
{
    for (int directed = 0; directed < 2; ++directed) {
        struct range_edge edges[RANGE_VERTICES * RANGE_VERTICES];
        size_t count = 0;
        for (uint32_t i = 0; i < RANGE_VERTICES; ++i) {
            for (uint32_t j = 0; j < RANGE_VERTICES; ++j) {
                edges[count++] = (struct range_edge){i, j, i == 0 || j == 0 ? 7 : 1000};
            }
        }
        struct graph *graph = range_build(RANGE_VERTICES, edges, count, directed);
        assert_true(is_proven_by_ways(graph, 14));
        assert_false(distance_range_within(graph, 13, PLENTY_S));
        graph_destroy(graph);
    }
}

/* Two edges through the hub connect any two vertices, and all other paths are longer. */
TEST(the_time_of_the_proof_is_limited)
{
    enum { VERTICES = 5000, BESIDE = 12 };
    struct range_edge *edges = calloc((size_t)VERTICES * (BESIDE + 2), sizeof(*edges));
    size_t count = 0;
    assert_non_null(edges);
    for (uint32_t i = 1; i < VERTICES; ++i) {
        edges[count++] = (struct range_edge){0, i, 5};
        edges[count++] = (struct range_edge){i, 0, 5};
        for (uint32_t j = 0; j < BESIDE; ++j) {
            edges[count++] = (struct range_edge){i, (i + 7 * j) % (VERTICES - 1) + 1, 90000};
        }
    }
    struct graph *graph = range_build(VERTICES, edges, count, true);
    assert_true(distance_range_within(graph, 10, 1));
    assert_false(distance_range_within(graph, 9, 1));
    assert_false(distance_range_within(graph, 10, 1e-6));
    /* This time suffices to visit all vertices and a hundred edges. A hundred edges reach only some
     * vertices, so the proof must give up. */
    assert_false(distance_range_within(graph, 10, VERTICES * 200e-9 + 100 * 5e-9));
    graph_destroy(graph);
    free(edges);
}

TEST(the_largest_weights_do_not_overflow)
{
    struct range_edge edges[9 * 9];
    size_t count = 0;
    for (uint32_t i = 0; i < 9; ++i) {
        for (uint32_t j = 0; j < 9; ++j) {
            edges[count++] = (struct range_edge){i, j, INT32_MAX};
        }
    }
    struct graph *graph = range_build(9, edges, count, true);
    assert_false(distance_range_within(graph, INT32_MAX - 1, PLENTY_S));
    graph_destroy(graph);
}

TEST(no_bound_is_proven_for_negative_or_decimal_weights)
{
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

TEST(a_bound_of_0_is_proven_for_a_graph_without_edges)
{
    for (uint32_t vertex_count = 0; vertex_count < 3; ++vertex_count) {
        struct graph *graph = range_build(vertex_count, NULL, 0, true);
        assert_true(distance_range_within(graph, 0, 0));
        graph_destroy(graph);
    }
}
