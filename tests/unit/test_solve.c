#include "tests/unit/solve_fixture.h"

#include <math.h>

static void the_outcome_tells_what_was_done(void **state)
{
    (void)state;
    struct attempt attempt = run_edges(3, short_path, 2, true, KIND_I4);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.entries.i4[2], 15);
    assert_int_equal(attempt.entries.i4[6], UNREACHABLE_I4);
    assert_true(attempt.outcome.account.verification.done);
    assert_false(attempt.outcome.account.verification.on_device);
    assert_int_equal(attempt.outcome.account.verification.rows, 3);
    assert_int_equal(attempt.outcome.account.verification.of, 3);
    assert_int_equal(attempt.outcome.account.verification.edges, 2);
    assert_int_equal(attempt.outcome.plan.parts, 1);
    assert_true(attempt.outcome.plan.work_fraction == 1);
    assert_string_equal(attempt.outcome.device.solver, "cpu");
    solve_outcome_finish(&attempt.outcome);
}

static void an_empty_graph_is_solved(void **state)
{
    (void)state;
    struct attempt attempt = run_edges(0, NULL, 0, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.outcome.account.verification.rows, 0);
    solve_outcome_finish(&attempt.outcome);
}

static void u2_is_narrowed_from_i4(void **state)
{
    (void)state;
    struct attempt attempt = run_edges(3, short_path, 2, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_int_equal(attempt.entries.u2[2], 15);
    assert_int_equal(attempt.entries.u2[6], UNREACHABLE_U2);
    solve_outcome_finish(&attempt.outcome);
}

static void a_distance_beyond_u2_is_refused(void **state)
{
    (void)state;
    static const struct edge long_path[] = {{0, 1, 40000}, {1, 2, 25535}};
    struct attempt attempt = run_edges(3, long_path, 2, true, KIND_U2);
    assert_int_equal(attempt.status, STATUS_WEIGHT_RANGE);
    assert_int_equal(attempt.problem.status, STATUS_WEIGHT_RANGE);
    solve_outcome_finish(&attempt.outcome);
}

static void a_negative_cycle_is_named(void **state)
{
    (void)state;
    static const struct edge cycle[] = {{0, 1, 1}, {1, 2, -5}, {2, 1, 3}, {2, 3, 1}};
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

static void a_long_negative_cycle_is_named_by_its_first_vertices(void **state)
{
    (void)state;
    struct edge cycle[20];
    for (uint32_t vertex = 0; vertex < 20; ++vertex) {
        cycle[vertex] = (struct edge){vertex, (vertex + 1) % 20, vertex == 7 ? -20 : 1};
    }
    struct attempt attempt = run_edges(20, cycle, 20, true, KIND_F4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 20);
    const char *end = attempt.problem.detail + strlen(attempt.problem.detail) - 3;
    assert_string_equal(end, "...");
    solve_outcome_finish(&attempt.outcome);
}

static void a_negative_loop_is_a_negative_cycle(void **state)
{
    (void)state;
    static const struct edge loop[] = {{0, 1, 4}, {1, 1, -3}};
    struct attempt attempt = run_edges(2, loop, 2, true, KIND_I4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 1);
    assert_int_equal(attempt.outcome.cycle[0], 1);
    assert_true(attempt.outcome.cycle_weight == -3);
    assert_non_null(strstr(attempt.problem.detail, "Vertex 2 "));
    solve_outcome_finish(&attempt.outcome);
}

static void a_negative_undirected_edge_is_a_negative_cycle(void **state)
{
    (void)state;
    static const struct edge edge[] = {{0, 1, -1}};
    struct attempt attempt = run_edges(2, edge, 1, false, KIND_I4);
    assert_int_equal(attempt.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(attempt.outcome.cycle_length, 2);
    solve_outcome_finish(&attempt.outcome);
}

/* 0.1 + 0.2 - 0.3 is above 0 in doubles; in floats some order of these sums is below. */
static void rounding_on_a_cycle_of_length_zero_is_no_negative_cycle(void **state)
{
    (void)state;
    struct edge edges[VERTEX_LIMIT];
    double last = 0;
    for (uint32_t vertex = 0; vertex + 1 < VERTEX_LIMIT; ++vertex) {
        const double weight = 0.1 * (1 + vertex % 7);
        edges[vertex] = (struct edge){vertex, vertex + 1, weight};
        last -= weight;
    }
    edges[VERTEX_LIMIT - 1] = (struct edge){VERTEX_LIMIT - 1, 0, last};
    struct attempt attempt = run_edges(VERTEX_LIMIT, edges, VERTEX_LIMIT, true, KIND_F4);
    assert_int_equal(attempt.status, STATUS_OK);
    for (uint32_t vertex = 0; vertex < VERTEX_LIMIT; ++vertex) {
        assert_true(attempt.entries.f4[vertex * (VERTEX_LIMIT + 1)] == 0);
    }
    solve_outcome_finish(&attempt.outcome);
}

/* Two edges, 7 and 8 long, one behind the other. */
static void expect_statistics_of_the_path(struct solver *solver, enum kind kind)
{
    struct graph *graph = build(3, short_path, 2, true);
    struct attempt attempt = {0};
    struct matrix matrix = {3, kind, &attempt.entries};
    const struct solve_request request = {.kind = kind};
    void *storage = malloc(statistics_size(3));
    assert_non_null(storage);
    struct statistics statistics = statistics_init(storage, 3, kind);
    attempt.outcome.account.statistics = &statistics;
    assert_int_equal(solve_graph(solver, cpu, graph, &request, NULL, &matrix, &attempt.outcome,
                                 &attempt.problem),
                     STATUS_OK);
    assert_true(attempt.outcome.account.statistics_filled);
    assert_int_equal(statistics.summary->reachable_pairs, 3);
    assert_true(statistics.summary->diameter == 15);
    assert_true(statistics.summary->radius == 8);
    assert_true(statistics.summary->mean_distance == 10);
    /* Integers: one bin each. Else each is 15 / 64 wide. */
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 29 : 7], 1);
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 34 : 8], 1);
    assert_int_equal(statistics.summary->bins[kind_is_float(kind) ? 63 : 15], 1);
    free(storage);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
}

static void statistics_are_filled_for_every_kind(void **state)
{
    (void)state;
    expect_statistics_of_the_path(cpu, KIND_I4);
    expect_statistics_of_the_path(cpu, KIND_U2);
    expect_statistics_of_the_path(cpu, KIND_F4);
    expect_statistics_of_the_path(cpu, KIND_F8);
}

/* The matrix and nothing else. */
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

static void statistics_that_the_solver_leaves_are_filled_after_it(void **state)
{
    (void)state;
    struct narrow_solver lazy = {.class_ = *cpu->class_};
    lazy.solver.class_ = &lazy.class_;
    lazy.class_.solve = solve_without_statistics;
    lazy.class_.describe = describe_cpu;
    expect_statistics_of_the_path(&lazy.solver, KIND_I4);
    expect_statistics_of_the_path(&lazy.solver, KIND_U2);
    expect_statistics_of_the_path(&lazy.solver, KIND_F4);
}

static void the_fallback_computes_what_the_solver_does_not(void **state)
{
    (void)state;
    struct narrow_solver narrow = make_narrow();
    narrow.solver.class_ = &narrow.class_;
    struct graph *graph = build(3, short_path, 2, true);
    struct attempt attempt = run(&narrow.solver, cpu, graph, KIND_F8);
    assert_int_equal(attempt.status, STATUS_OK);
    assert_true(attempt.entries.f8[2] == 15);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
}

static void a_kind_that_nobody_computes_is_refused(void **state)
{
    (void)state;
    struct narrow_solver narrow = make_narrow();
    narrow.solver.class_ = &narrow.class_;
    struct graph *graph = build(3, short_path, 2, true);
    struct attempt attempt = run(&narrow.solver, NULL, graph, KIND_F8);
    assert_int_equal(attempt.status, STATUS_BAD_PARAMETER);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outcome_tells_what_was_done),
        cmocka_unit_test(an_empty_graph_is_solved),
        cmocka_unit_test(u2_is_narrowed_from_i4),
        cmocka_unit_test(a_distance_beyond_u2_is_refused),
        cmocka_unit_test(a_negative_cycle_is_named),
        cmocka_unit_test(a_long_negative_cycle_is_named_by_its_first_vertices),
        cmocka_unit_test(a_negative_loop_is_a_negative_cycle),
        cmocka_unit_test(a_negative_undirected_edge_is_a_negative_cycle),
        cmocka_unit_test(rounding_on_a_cycle_of_length_zero_is_no_negative_cycle),
        cmocka_unit_test(statistics_are_filled_for_every_kind),
        cmocka_unit_test(statistics_that_the_solver_leaves_are_filled_after_it),
        cmocka_unit_test(the_fallback_computes_what_the_solver_does_not),
        cmocka_unit_test(a_kind_that_nobody_computes_is_refused),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
