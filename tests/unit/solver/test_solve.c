#include "server/solver/plan/planner.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/solve_fixture.h"

#include <math.h>

TEST(the_outcome_reports_the_work_done)
{
    struct attempt attempt = run_edges(3, short_path, 2, true, KIND_I4);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.entries.i4[2], 15);
    assert_int_equal(attempt.entries.i4[6], UNREACHABLE_I4);
    assert_true(attempt.outcome.account.verification.done);
    assert_int_equal(attempt.outcome.account.verification.rows, 3);
    assert_int_equal(attempt.outcome.account.verification.of, 3);
    assert_int_equal(attempt.outcome.account.verification.edges, 2);
    assert_int_equal(attempt.outcome.plan.parts, 1);
    assert_true(attempt.outcome.plan.work_fraction == 1);
    assert_string_equal(attempt.outcome.device.solver, "cpu");
    solve_outcome_finish(&attempt.outcome);
}

TEST(an_empty_graph_is_solved)
{
    struct attempt attempt = run_edges(0, NULL, 0, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.outcome.account.verification.rows, 0);
    solve_outcome_finish(&attempt.outcome);
}

TEST(a_graph_is_solved_as_a_u2_matrix)
{
    struct attempt attempt = run_edges(3, short_path, 2, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.entries.u2[2], 15);
    assert_int_equal(attempt.entries.u2[6], UNREACHABLE_U2);
    solve_outcome_finish(&attempt.outcome);
}

TEST(a_distance_beyond_the_range_of_u2_is_refused)
{
    static const struct range_edge long_path[] = {{0, 1, 40000}, {1, 2, 25535}};
    struct attempt attempt = run_edges(3, long_path, 2, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_WEIGHT_RANGE);
    assert_int_equal(attempt.problem.status, STATUS_WEIGHT_RANGE);
    solve_outcome_finish(&attempt.outcome);
}

TEST(the_error_for_a_negative_cycle_lists_its_vertices)
{
    static const struct range_edge cycle[] = {{0, 1, 1}, {1, 2, -5}, {2, 1, 3}, {2, 3, 1}};
    struct attempt attempt = run_edges(4, cycle, 4, true, KIND_I4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 2);
    assert_true(attempt.outcome.cycle_weight == -2);
    assert_true(strstr(attempt.problem.detail, "length -2: 2 -> 3 -> 2") != NULL ||
                strstr(attempt.problem.detail, "length -2: 3 -> 2 -> 3") != NULL);
    assert_true(strlen(attempt.problem.hint) > 0);
    assert_false(attempt.outcome.account.verification.done);
    solve_outcome_finish(&attempt.outcome);
}

TEST(the_error_for_a_long_negative_cycle_lists_its_first_vertices)
{
    struct range_edge cycle[20];
    for (uint32_t vertex = 0; vertex < 20; ++vertex) {
        cycle[vertex] = (struct range_edge){vertex, (vertex + 1) % 20, vertex == 7 ? -20 : 1};
    }
    struct attempt attempt = run_edges(20, cycle, 20, true, KIND_F4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 20);
    const char *end = attempt.problem.detail + strlen(attempt.problem.detail) - 3;
    assert_string_equal(end, "...");
    solve_outcome_finish(&attempt.outcome);
}

/* Solves a graph with named vertices and a negative cycle. Returns the reported problem. */
static struct problem refuse(const char *edges, bool directed)
{
    const struct graph_options options = {.has_directed = true, .directed = directed};
    struct graph *graph = NULL;
    assert_int_equal(read_graph(FORMAT_EDGES, &options, edges, strlen(edges), 64, &graph, NULL),
                     STATUS_OK);
    struct attempt attempt = run(cpu, graph, KIND_F8);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
    return attempt.problem;
}

TEST(the_vertices_of_a_cycle_are_listed_in_the_order_of_its_edges)
{
    static const char begin[] = "A cycle of 3 edges has length -1.5: ";
    const struct problem problem = refuse("a b 1\nb c 1\nc a -3.5\n", true);
    char walk[] = "a -> b -> c -> a";
    assert_memory_equal(problem.detail, begin, strlen(begin));
    assert_string_equal(problem.detail + strlen(begin) + strlen(walk), ".");
    memcpy(walk, problem.detail + strlen(begin), strlen(walk));
    assert_non_null(strstr("a -> b -> c -> a -> b -> c", walk));
    assert_non_null(strstr(problem.hint, "Each pass around the cycle"));
}

TEST(the_length_of_a_cycle_is_printed_in_its_shortest_form)
{
    const struct problem problem = refuse("a b 0.25\nb a -0.8921738\n", true);
    assert_non_null(strstr(problem.detail, " has length -0.6421738: "));
}

/* The message contains at most sixteen bytes of a name, and no incomplete character. */
TEST(a_long_name_is_truncated_at_a_character_boundary)
{
    const struct problem problem = refuse("abcdefghijklmno\xC3\xA4xyz b -1\n", false);
    assert_true(strstr(problem.detail, ": abcdefghijklmno -> b -> abcdefghijklmno.") != NULL ||
                strstr(problem.detail, ": b -> abcdefghijklmno -> b.") != NULL);
    assert_non_null(strstr(problem.hint, "directed=true"));
}

TEST(a_negative_loop_is_a_negative_cycle)
{
    static const struct range_edge loop[] = {{0, 1, 4}, {1, 1, -3}};
    struct attempt attempt = run_edges(2, loop, 2, true, KIND_I4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 1);
    assert_int_equal(attempt.outcome.cycle[0], 1);
    assert_true(attempt.outcome.cycle_weight == -3);
    assert_non_null(strstr(attempt.problem.detail, "Vertex 2 "));
    solve_outcome_finish(&attempt.outcome);
}

TEST(a_negative_undirected_edge_is_a_negative_cycle)
{
    static const struct range_edge edge[] = {{0, 1, -1}};
    struct attempt attempt = run_edges(2, edge, 1, false, KIND_I4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 2);
    solve_outcome_finish(&attempt.outcome);
}

/* The weights are multiples of 0.1 whose sum is exactly 0. Integers give 0 in any order of
 * addition, but floats give a negative sum in some orders. */
TEST(a_cycle_of_length_zero_is_solved_exactly_or_refused)
{
    struct range_edge edges[VERTEX_LIMIT];
    int last = 0;
    for (uint32_t vertex = 0; vertex + 1 < VERTEX_LIMIT; ++vertex) {
        const int tenths = 1 + (int)(vertex % 7);
        edges[vertex] = (struct range_edge){vertex, vertex + 1, tenths / 10.0};
        last -= tenths;
    }
    edges[VERTEX_LIMIT - 1] = (struct range_edge){VERTEX_LIMIT - 1, 0, last / 10.0};
    struct attempt attempt = run_edges(VERTEX_LIMIT, edges, VERTEX_LIMIT, true, KIND_F8);
    assert_int_equal(attempt.status, STATUS_OK);
    for (uint32_t vertex = 0; vertex < VERTEX_LIMIT; ++vertex) {
        assert_true(attempt.entries.f8[vertex * (VERTEX_LIMIT + 1)] == 0);
    }
    assert_true(attempt.entries.f8[3] == 0.6);
    solve_outcome_finish(&attempt.outcome);
    attempt = run_edges(VERTEX_LIMIT, edges, VERTEX_LIMIT, true, KIND_F4);
    assert_int_equal(attempt.status, STATUS_WEIGHT_RANGE);
    assert_non_null(strstr(attempt.problem.hint, "or use kind=f8"));
    solve_outcome_finish(&attempt.outcome);
}

static void expect_statistics_of_the_path(struct solver *solver, enum kind kind)
{
    struct graph *graph = range_build(3, short_path, 2, true);
    struct attempt attempt = {0};
    struct matrix matrix = {3, kind, &attempt.entries};
    const struct solve_request request = {.kind = kind};
    void *storage = malloc(statistics_size(3));
    assert_non_null(storage);
    struct statistics statistics = statistics_init(storage, 3, kind);
    attempt.outcome.account.statistics = &statistics;
    assert_int_equal(
        solve_graph(solver, graph, &request, &matrix, &attempt.outcome, &attempt.problem),
        STATUS_OK);
    assert_true(attempt.outcome.account.statistics_filled);
    assert_int_equal(statistics.summary->reachable_pairs, 3);
    assert_true(statistics.summary->diameter == 15);
    assert_true(statistics.summary->radius == 8);
    assert_true(statistics.summary->mean_distance == 10);
    /* Each integer distance has its own bin. With floats, each of the 64 bins is 15 / 64 wide. */
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 29 : 7], 1);
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 34 : 8], 1);
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 63 : 15], 1);
    free(storage);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
}

TEST(statistics_are_filled_in_for_every_kind)
{
    expect_statistics_of_the_path(cpu, KIND_I4);
    expect_statistics_of_the_path(cpu, KIND_U2);
    expect_statistics_of_the_path(cpu, KIND_F4);
    expect_statistics_of_the_path(cpu, KIND_F8);
}

static enum status solve_without_statistics(struct solver *solver, const struct graph *graph,
                                            const struct plan *plan,
                                            const struct solve_options *options,
                                            const struct observer *observer, struct matrix *matrix,
                                            struct solve_account *account)
{
    (void)solver;
    struct solve_account own = {0};
    const enum status status =
        cpu->class_->solve(cpu, graph, plan, options, observer, matrix, &own);
    account->timings = own.timings;
    return status;
}

TEST(statistics_missing_after_the_solve_are_computed)
{
    struct stand_in lazy;
    stand_in_init(&lazy);
    lazy.class_.solve = solve_without_statistics;
    expect_statistics_of_the_path(&lazy.solver, KIND_I4);
    expect_statistics_of_the_path(&lazy.solver, KIND_U2);
    expect_statistics_of_the_path(&lazy.solver, KIND_F4);
}

static enum plan_kind plan_of_solve;
static uint32_t tiles_of_solve;

/* Records the kind and the tiles of the plan, then solves as with the dense plan. */
static enum status solve_and_note(struct solver *solver, const struct graph *graph,
                                  const struct plan *plan, const struct solve_options *options,
                                  const struct observer *observer, struct matrix *matrix,
                                  struct solve_account *account)
{
    (void)solver;
    struct plan *dense = NULL;
    plan_of_solve = plan->summary.kind;
    tiles_of_solve = plan->tile_count;
    assert_int_equal(planner_dense(graph->vertex_count, cpu->class_->tile, &dense), STATUS_OK);
    const enum status status =
        cpu->class_->solve(cpu, graph, dense, options, observer, matrix, account);
    plan_destroy(dense);
    return status;
}

static enum kind kind_of_figures;
static bool figures_symmetric;
static bool figures_narrow;

/* Returns the costs of a device that has tiles of 4 vertices and rounds without overhead. */
static void tell_figures(const struct solver *solver, const struct graph *graph, enum kind kind,
                         const struct solve_options *options, struct plan_cost *ret_cost)
{
    (void)solver;
    assert_int_equal(graph->vertex_count, 32);
    kind_of_figures = kind;
    figures_symmetric = options->symmetric;
    figures_narrow = options->narrow;
    *ret_cost = (struct plan_cost){.tile = 4,
                                   .threads = 1,
                                   .units = 1,
                                   .granule = 1,
                                   .edge_granule = 1,
                                   .product_s = 40e-6,
                                   .touch_s = 4e-6};
}

static bool has_room = true;

static bool say_room(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                     enum kind kind)
{
    (void)solver;
    assert_int_equal(plan->summary.kind, PLAN_NESTED_DISSECTION);
    assert_true(edge_count > 0);
    assert_int_equal(kind, kind_of_figures);
    return has_room;
}

/* Set by a test that allows only the dense plan. */
static bool dense_only;
/* Set by a test in which each edge of the rings has a reverse edge. */
static bool both_ways;
/* Number of vertices from which it is worthwhile to prove that the distances fit 16 bits. */
static uint32_t narrow_vertices;

static struct attempt run_rings(bool directed, enum kind kind)
{
    struct stand_in device;
    struct range_edge rings[64];
    stand_in_init(&device);
    device.class_.solve = solve_and_note;
    device.class_.plan_cost = tell_figures;
    device.class_.fits = say_room;
    device.solver.dense_only = dense_only;
    device.solver.narrow_vertices = narrow_vertices;
    for (uint32_t vertex = 0; vertex < 32; ++vertex) {
        const uint32_t next = vertex / 4 * 4 + (vertex + 1) % 4;
        rings[vertex] = (struct range_edge){vertex, next, 1};
        rings[32 + vertex] = (struct range_edge){next, vertex, 1};
    }
    struct graph *graph = range_build(32, rings, both_ways ? 64 : 32, directed);
    struct attempt attempt = run(&device.solver, graph, kind);
    graph_destroy(graph);
    assert_int_equal(attempt.status, STATUS_OK);
    return attempt;
}

TEST(a_solver_with_a_cost_model_gets_a_dissection_plan)
{
    for (int directed = 0; directed < 2; ++directed) {
        struct attempt attempt = run_rings(directed, KIND_U2);
        assert_int_equal(plan_of_solve, PLAN_NESTED_DISSECTION);
        assert_int_equal(tiles_of_solve, 8);
        assert_int_equal(kind_of_figures, KIND_U2);
        assert_int_equal(figures_symmetric, !directed);
        assert_int_equal(attempt.outcome.plan.kind, PLAN_NESTED_DISSECTION);
        assert_int_equal(attempt.outcome.plan.parts, 8);
        assert_float_equal(attempt.outcome.plan.work_fraction, 1.0 / 64, 1e-12);
        assert_int_equal(attempt.entries.u2[1], 1);
        assert_int_equal(attempt.entries.u2[4], UNREACHABLE_U2);
        solve_outcome_finish(&attempt.outcome);
    }
}

TEST(only_half_the_matrix_is_solved_if_each_edge_has_an_equal_reverse_edge)
{
    both_ways = true;
    struct attempt attempt = run_rings(true, KIND_I4);
    both_ways = false;
    assert_true(figures_symmetric);
    assert_int_equal(attempt.entries.i4[3], 1);
    assert_int_equal(attempt.entries.i4[4], UNREACHABLE_I4);
    solve_outcome_finish(&attempt.outcome);
}

/* In 16 bits, the rounds of a plan take half the time, but so does the dense solve that the plan
 * must outperform. */
TEST(the_planner_uses_the_cost_of_a_solve_in_16_bits)
{
    for (uint32_t least = 31; least <= 33; ++least) {
        narrow_vertices = least;
        struct attempt attempt = run_rings(true, KIND_I4);
        narrow_vertices = 0;
        assert_int_equal(figures_narrow, least <= 32);
        assert_int_equal(attempt.entries.i4[1], 1);
        solve_outcome_finish(&attempt.outcome);
    }
}

TEST(the_dense_plan_replaces_a_plan_that_does_not_fit)
{
    has_room = false;
    struct attempt attempt = run_rings(true, KIND_I4);
    has_room = true;
    assert_int_equal(plan_of_solve, PLAN_DENSE);
    assert_int_equal(attempt.outcome.plan.kind, PLAN_DENSE);
    assert_true(attempt.outcome.plan.planning_s > 0);
    assert_int_equal(attempt.entries.i4[1], 1);
    solve_outcome_finish(&attempt.outcome);
}

TEST(a_solver_without_plans_gets_the_dense_plan)
{
    dense_only = true;
    struct attempt attempt = run_rings(true, KIND_I4);
    dense_only = false;
    assert_int_equal(plan_of_solve, PLAN_DENSE);
    solve_outcome_finish(&attempt.outcome);
}

static void ignore_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static bool say_cancelled(void *context)
{
    (void)context;
    return true;
}

TEST(a_job_cancelled_during_planning_is_not_solved)
{
    const struct observer observer = {.progress = ignore_progress, .cancelled = say_cancelled};
    const struct solve_request request = {.kind = KIND_I4, .observer = &observer};
    struct stand_in device;
    struct attempt attempt = {0};
    struct matrix matrix = {3, KIND_I4, &attempt.entries};
    stand_in_init(&device);
    device.class_.solve = solve_and_note;
    struct graph *graph = range_build(3, short_path, 2, true);
    tiles_of_solve = 0;
    assert_int_equal(
        solve_graph(&device.solver, graph, &request, &matrix, &attempt.outcome, &attempt.problem),
        STATUS_CANCELLED);
    assert_int_equal(tiles_of_solve, 0);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
}

TEST_GROUP(open_cpu, close_cpu)
