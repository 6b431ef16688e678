/* Random plans of every shape, executed by the reference: any order, tiles, merging and superset of
 * tiles gives the oracle's matrix. APSPD_TEST_QUICK skips most seeds. */
#include "tests/lib/test.h"
#include "tests/solver/oracle.h"
#include "tests/solver/plan_reference.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"

#define VERTICES_MAX 90

static uint64_t seed_count(void)
{
    return getenv("APSPD_TEST_QUICK") != NULL ? 2 : 12;
}

static void solve_one(const struct edge_list *list, const struct graph *graph, uint32_t tile,
                      bool symmetric, uint64_t seed)
{
    static double expected[VERTICES_MAX * VERTICES_MAX];
    static double solved[VERTICES_MAX * VERTICES_MAX];
    const bool good = oracle_solve(list, expected);
    struct plan *plan = random_plan_make(graph, tile, symmetric, seed);
    assert_true(plan_reference_judge(plan, list->vertex_count));
    assert_int_equal(plan_reference_solve(list, plan, solved),
                     good ? PLAN_SOLVED : PLAN_NEGATIVE_CYCLE);
    if (good) {
        const size_t n = list->vertex_count;
        assert_memory_equal(solved, expected, n * n * sizeof(*solved));
    }
    plan_destroy(plan);
}

static void solve_shape(const struct shape *shape, uint32_t vertex_count, bool negative_cycle)
{
    static const uint32_t tiles[] = {1, 4, 7, 16, 128};
    for (uint64_t seed = 0; seed < seed_count(); ++seed) {
        struct edge_list list = shapes_make(shape, vertex_count, seed);
        if (negative_cycle) {
            shapes_add_negative_cycle(&list, seed);
        }
        struct graph *graph = edge_list_build(&list);
        const uint32_t tile = tiles[seed % (sizeof(tiles) / sizeof(tiles[0]))];
        solve_one(&list, graph, tile, false, seed);
        if (!shape->directed) {
            solve_one(&list, graph, tile, true, seed);
        }
        graph_destroy(graph);
        edge_list_finish(&list);
    }
}

TEST(any_valid_plan_gives_the_same_matrix)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 7, 16, 33, 64, VERTICES_MAX};
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (size_t size = 0; shapes[shape].integral && size < sizeof(sizes) / sizeof(sizes[0]);
             ++size) {
            solve_shape(&shapes[shape], sizes[size], false);
        }
    }
}

TEST(any_valid_plan_detects_a_negative_cycle)
{
    for (size_t shape = 0; shape < shape_count; ++shape) {
        if (shapes[shape].integral) {
            solve_shape(&shapes[shape], 40, true);
        }
    }
}

TEST(the_same_seed_gives_the_same_plan)
{
    struct edge_list list = {.vertex_count = 300};
    for (uint32_t vertex = 1; vertex < list.vertex_count; ++vertex) {
        edge_list_add(&list, vertex - 1, vertex, 1);
    }
    struct graph *graph = edge_list_build(&list);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        struct plan *plan = random_plan_make(graph, 8, true, seed);
        struct plan *again = random_plan_make(graph, 8, true, seed);
        assert_int_equal(plan->tile_count, again->tile_count);
        assert_int_equal(plan->round_count, again->round_count);
        assert_int_equal(plan->product_count, again->product_count);
        assert_memory_equal(plan->vertex_at, again->vertex_at, 300 * sizeof(*plan->vertex_at));
        plan_destroy(plan);
        plan_destroy(again);
    }
    graph_destroy(graph);
    edge_list_finish(&list);
}

/* Otherwise the tests above would use only dense plans with one pivot per round. */
TEST(random_plans_merge_pivots_and_omit_tiles)
{
    struct edge_list list = {.vertex_count = 300};
    for (uint32_t vertex = 1; vertex < list.vertex_count; ++vertex) {
        edge_list_add(&list, vertex - 1, vertex, 1);
    }
    struct graph *graph = edge_list_build(&list);
    uint32_t merged = 0;
    uint32_t sparse = 0;
    uint32_t fresh = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        struct plan *plan = random_plan_make(graph, 8, true, seed);
        merged += plan->round_count < plan->tile_count;
        sparse += plan->summary.work_fraction < 0.5;
        for (size_t target = 0; target < plan->target_count; ++target) {
            fresh += plan->targets[target].fresh;
        }
        plan_destroy(plan);
    }
    assert_in_range(merged, 10, 49);
    assert_in_range(sparse, 5, 49);
    assert_true(fresh > 50);
    graph_destroy(graph);
    edge_list_finish(&list);
}
