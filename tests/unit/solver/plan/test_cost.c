#include "server/solver/plan/symbolic.h"
#include "tests/lib/range_fixture.h"

#define VERTICES 60

static const struct plan_cost figures = {.tile = 4,
                                         .threads = 1,
                                         .units = 2,
                                         .granule = 1,
                                         .edge_granule = 1,
                                         .round_s = 1000,
                                         .product_s = 16,
                                         .touch_s = 1};
static uint32_t in_order[VERTICES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                      15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
                                      30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
                                      45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59};

TEST(the_time_of_a_dense_solve_is_the_sum_of_the_times_of_its_rounds)
{
    assert_true(plan_cost_dense(&figures, 0, false) == 0);
    /* A single tile has no panels. */
    assert_true(plan_cost_dense(&figures, 4, false) == 1000 + 16);
    /* With three tiles, two units share 4 panels and 4 targets in each round. */
    assert_true(plan_cost_dense(&figures, 12, false) == 3 * (1000 + 16 + 2 * 17 + 2 * 17));
    /* A symmetric matrix needs only the lower half: 2 panels and 3 targets. */
    assert_true(plan_cost_dense(&figures, 12, true) == 3 * (1000 + 16 + 17 + 1.5 * 17));
}

TEST(a_measured_dense_time_replaces_the_estimate)
{
    struct plan_cost known = figures;
    known.dense_s = 7;
    assert_true(plan_cost_dense(&known, 12, false) == 7);
}

TEST(a_phase_costs_at_least_one_tile)
{
    struct plan_cost many = figures;
    many.units = 100;
    assert_true(plan_cost_dense(&many, 12, false) == 3 * (1000 + 16 + 17 + 17));
}

static double seconds_of(const struct plan_cost *cost, const struct graph *graph,
                         const struct plan_outline *outline, double limit_s)
{
    double seconds = 0;
    assert_int_equal(plan_symbolic_cost(graph, outline, cost, limit_s, &seconds), STATUS_OK);
    return seconds;
}

TEST(tile_sizes_are_rounded_up_to_the_granule)
{
    static const struct range_edge edge[] = {{0, 1, 1}};
    static uint32_t begin[] = {0, 1, 2};
    const struct plan_outline outline = {
        .vertex_at = in_order, .tile_begin = begin, .tile_count = 2, .tile = 4, .pivot = in_order};
    struct graph *graph = range_build(2, edge, 1, true);
    struct plan_cost cost = figures;
    cost.units = 1;
    /* The plan has two rounds with one panel each and no targets. A panel costs at least as much as
     * a tile of the pivot's depth. */
    assert_true(seconds_of(&cost, graph, &outline, 1e9) == 2 * (1000 + 4 + 4 + 1));
    cost.granule = 2;
    assert_true(seconds_of(&cost, graph, &outline, 1e9) == 2 * (1000 + 8 + 8 + 1));
    graph_destroy(graph);
}

static struct graph *make_random(bool directed, uint64_t seed)
{
    struct range_edge edges[VERTICES];
    for (uint32_t edge = 0; edge < VERTICES; ++edge) {
        edges[edge].source = range_next(&seed, VERTICES);
        edges[edge].target = range_next(&seed, VERTICES);
        edges[edge].weight = 1;
    }
    return range_build(VERTICES, edges, VERTICES, directed);
}

/* The cost must approximately equal the sum over all pivots of the complete plan. If the
 * computation gives up at a limit, the returned cost must exceed the limit. */
TEST(the_cost_of_an_outline_approximates_the_cost_of_its_plan)
{
    uint32_t begin[VERTICES / 4 + 1];
    for (uint32_t vertex = 0; vertex < VERTICES; ++vertex) {
        begin[vertex / 4] = vertex / 4 * 4;
    }
    begin[VERTICES / 4] = VERTICES;
    for (uint64_t seed = 1; seed < 50; ++seed) {
        struct graph *graph = make_random(seed % 2, seed);
        const struct plan_outline outline = {.vertex_at = in_order,
                                             .tile_begin = begin,
                                             .tile_count = VERTICES / 4,
                                             .tile = 4,
                                             .pivot = in_order,
                                             .symmetric = !graph->directed};
        struct plan *plan = NULL;
        struct plan_cost products = {.tile = 4, .units = 1, .edge_granule = 1, .granule = 1};
        products.product_s = 64; /* a relaxation takes one second */
        assert_int_equal(plan_symbolic_make(graph, &outline, &plan), STATUS_OK);
        /* Only products cost time here, so the cost is the number of relaxations; a symmetric plan
         * needs half of them. */
        const double work = plan->summary.work_fraction * VERTICES * VERTICES * VERTICES;
        const double seconds = seconds_of(&products, graph, &outline, 1e9);
        assert_true(seconds > (graph->directed ? 0.9 : 0.45) * work && seconds < 1.1 * work);
        const double limit_s = seconds / 2;
        const double given_up = seconds_of(&products, graph, &outline, limit_s);
        assert_true(given_up > limit_s && given_up <= seconds);
        plan_destroy(plan);
        graph_destroy(graph);
    }
}
