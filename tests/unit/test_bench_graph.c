#include "server/command/bench_graph.h"
#include "server/solver/solve.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ignore_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* The largest distance, INFINITY with an unreachable pair. */
static double largest_distance(const struct graph *graph)
{
    const struct solver_config config = {
        .choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "portable"};
    const struct solve_request request = {KIND_F8, false};
    const struct observer observer = {NULL, ignore_progress, never};
    const uint32_t n = graph->vertex_count;
    struct solver *solver = NULL;
    struct solve_outcome outcome = {0};
    struct matrix matrix = {n, KIND_F8, calloc((size_t)n * n, sizeof(double))};
    double largest = 0;
    assert_int_equal(solver_cpu_open(&config, &solver, NULL), STATUS_OK);
    assert_int_equal(solve_graph(solver, NULL, graph, &request, &observer, &matrix, &outcome, NULL),
                     STATUS_OK);
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        const double distance = ((const double *)matrix.elements)[i];
        largest = distance > largest ? distance : largest;
    }
    solve_outcome_finish(&outcome);
    solver_close(solver);
    free(matrix.elements);
    return largest;
}

static void every_distance_is_known_to_be_small(void **state)
{
    (void)state;
    for (int form = 0; form < 4; ++form) {
        const bool directed = (form & 1) != 0;
        const bool real = (form & 2) != 0;
        for (uint32_t n = 1; n < 200; n = 3 * n + 1) {
            struct graph *graph = NULL;
            assert_int_equal(bench_graph_make(n, directed, real, n, &graph, NULL), STATUS_OK);
            assert_int_equal(graph->vertex_count, n);
            assert_true(graph->directed == directed);
            assert_true(n == 1 || (graph->weight_type == WEIGHT_REAL) == real);
            assert_true(n == 1 || graph->summary.min_weight > 0);
            assert_true(graph->summary.max_weight <= BENCH_GRAPH_WEIGHT_MAX);
            assert_true(largest_distance(graph) <= BENCH_GRAPH_DISTANCE_MAX);
            graph_destroy(graph);
        }
    }
}

static void another_seed_is_another_graph(void **state)
{
    (void)state;
    struct graph *graph = NULL;
    struct graph *other = NULL;
    assert_int_equal(bench_graph_make(128, true, false, 1, &graph, NULL), STATUS_OK);
    assert_int_equal(bench_graph_make(128, true, false, 2, &other, NULL), STATUS_OK);
    const uint64_t edges =
        graph->edge_count < other->edge_count ? graph->edge_count : other->edge_count;
    assert_memory_not_equal(graph->target, other->target, edges * sizeof(uint32_t));
    graph_destroy(other);
    graph_destroy(graph);
}

static void a_graph_is_sparse_and_always_the_same(void **state)
{
    (void)state;
    struct graph *graph = NULL;
    struct graph *again = NULL;
    assert_int_equal(bench_graph_make(2000, true, false, 1, &graph, NULL), STATUS_OK);
    assert_int_equal(bench_graph_make(2000, true, false, 1, &again, NULL), STATUS_OK);
    assert_in_range(graph->edge_count, 15 * 2000, 17 * 2000);
    assert_int_equal(graph->edge_count, again->edge_count);
    assert_memory_equal(graph->target, again->target, graph->edge_count * sizeof(uint32_t));
    assert_memory_equal(graph->weight_i4, again->weight_i4, graph->edge_count * sizeof(int32_t));
    graph_destroy(again);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_distance_is_known_to_be_small),
        cmocka_unit_test(a_graph_is_sparse_and_always_the_same),
        cmocka_unit_test(another_seed_is_another_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
