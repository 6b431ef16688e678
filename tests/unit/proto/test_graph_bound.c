#include "tests/lib/range_fixture.h"

#define TRIALS 3000
#define SCALE (1 << 24)

/* Returns a simple upper bound on all distances: the sum of the largest weights. */
static double sum_of_largest(const struct graph *graph)
{
    double largest[RANGE_VERTICES + 1] = {0};
    double sum = 0;
    for (uint32_t v = 0; v < graph->vertex_count; ++v) {
        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; ++edge) {
            const uint32_t target = graph->target[edge];
            const double weight = graph->weight_i4[edge];
            largest[v] = weight > largest[v] ? weight : largest[v];
            if (!graph->directed && weight > largest[target]) {
                largest[target] = weight;
            }
        }
    }
    for (uint32_t v = 0; v < graph->vertex_count; ++v) {
        sum += largest[v];
    }
    return sum;
}

/* A third of the graphs have an equal reverse edge for each edge. */
static struct graph *make_random(uint64_t *seed)
{
    const uint32_t vertex_count = 3 + range_next(seed, RANGE_VERTICES - 2);
    const uint32_t count = range_next(seed, 5 * vertex_count);
    const bool is_mirrored = range_next(seed, 3) == 0;
    struct range_edge edges[2 * 5 * RANGE_VERTICES];
    for (uint32_t i = 0; i < count; ++i) {
        edges[i] =
            (struct range_edge){range_next(seed, vertex_count), range_next(seed, vertex_count),
                                (int32_t)range_next(seed, 32) * SCALE};
        edges[count + i] = (struct range_edge){edges[i].target, edges[i].source, edges[i].weight};
    }
    struct graph *graph = range_build(vertex_count, edges, is_mirrored ? 2 * count : count,
                                      is_mirrored || range_next(seed, 2) == 0);
    if (is_mirrored) {
        assert_true(graph_is_symmetric(graph));
    }
    return graph;
}

TEST(no_distance_exceeds_the_bound)
{
    uint64_t seed = 1;
    int lower = 0;
    int equal = 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        struct graph *graph = make_random(&seed);
        const double sum = sum_of_largest(graph);
        const double bound = graph->summary.distance_bound;
        assert_true((double)range_longest(graph) <= bound && bound <= sum);
        assert_true(sum >= GRAPH_BOUND_I4 || bound == sum);
        lower += bound < sum;
        equal += bound == (double)range_longest(graph);
        const uint32_t components = graph->summary.components;
        assert_int_equal(graph_count_components(graph), STATUS_OK);
        assert_int_equal(components, graph->summary.components);
        graph_destroy(graph);
    }
    assert_true(lower > TRIALS / 4 && equal > TRIALS / 50);
}

/* The graph is a ring of 20 vertices in which every second edge is long, a chain that leads into
 * the ring, and a chain that leads out of the ring. */
TEST(the_bound_includes_edges_outside_the_component_of_the_hub)
{
    struct range_edge edges[24];
    size_t count = 0;
    for (uint32_t i = 0; i < 20; ++i) {
        edges[count++] = (struct range_edge){i, (i + 1) % 20, i % 2 == 0 ? SCALE : 2};
    }
    edges[count++] = (struct range_edge){20, 21, 20 * SCALE};
    edges[count++] = (struct range_edge){21, 0, 5};
    edges[count++] = (struct range_edge){19, 22, 3};
    edges[count++] = (struct range_edge){22, 23, 30 * SCALE};
    struct graph *graph = range_build(24, edges, count, true);
    /* The bound is at most the sum of a path to the hub and a path from the hub around the ring,
     * the chains, and the longest edge from a vertex of the ring. */
    assert_true(graph->summary.distance_bound <= (20 + 50 + 1) * (double)SCALE + 100);
    assert_true(graph->summary.distance_bound >= (double)range_longest(graph));
    graph_destroy(graph);
}

TEST(the_distance_bound_of_large_weights_exceeds_the_range_of_i4)
{
    const struct range_edge below[] = {{0, 1, 1 << 29}, {1, 0, 1}, {1, 2, -1}};
    for (size_t count = 2; count <= 3; ++count) {
        struct graph *graph = range_build(3, below, count, true);
        assert_true(graph->summary.distance_bound >= GRAPH_BOUND_I4 + 1);
        graph_destroy(graph);
    }
}
