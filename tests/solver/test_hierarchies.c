/* Rows and pairs of hierarchies against the matrix of the CPU solver, over all shapes of graphs. */
#include "proto/hierarchy.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

static struct solver *cpu;

static double entry(enum kind kind, const void *elements, size_t index)
{
    double distance;
    const struct matrix one = {1, kind, (char *)(uintptr_t)elements + index * kind_size(kind)};
    return matrix_distance(&one, 0, 0, &distance) ? distance : INFINITY;
}

/* Sums of floats are made in another order. */
static bool is_same(enum kind kind, double a, double b)
{
    const double tolerance = kind == KIND_I4 ? 0 : kind == KIND_F4 ? 1e-4 : 1e-12;
    return a == b || fabs(a - b) <= tolerance * fmax(fmax(fabs(a), fabs(b)), 1000);
}

static void compare_rows(const struct hierarchy *hierarchy, const struct matrix *matrix,
                         const char *shape)
{
    const uint32_t n = matrix->vertex_count;
    const enum kind kind = matrix->kind;
    struct hierarchy_search *search = NULL;
    double *rows = calloc((size_t)n * HIERARCHY_LANES + 1, sizeof(*rows));
    assert_non_null(rows);
    assert_int_equal(hierarchy_search_create(hierarchy, &search), STATUS_OK);
    for (uint32_t first = 0, count = 1; first < n; first += count, count = count % 16 + 1) {
        uint32_t sources[HIERARCHY_LANES];
        for (uint32_t i = 0; i < count; ++i) {
            sources[i] = (first + i) % n;
        }
        hierarchy_rows(search, sources, count, rows);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t target = 0; target < n; ++target) {
                double pair;
                const size_t at = (size_t)sources[i] * n + target;
                const double wanted = entry(kind, matrix->elements, at);
                hierarchy_distance(search, sources[i], target, &pair);
                if (!is_same(kind, entry(kind, rows, (size_t)i * n + target), wanted) ||
                    !is_same(kind, entry(kind, &pair, 0), wanted)) {
                    print_error("%s n=%u kind %s, %u to %u\n", shape, n, kind_name(kind),
                                sources[i], target);
                    fail();
                }
            }
        }
    }
    hierarchy_search_destroy(search);
    free(rows);
}

static void compare(const struct graph *graph, enum kind kind, uint32_t threads, const char *shape)
{
    struct trial trial = trial_run_graph(cpu, graph, kind, false);
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    struct hierarchy *hierarchy = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    assert_int_equal(
        solve_hierarchy(graph, kind, threads, NULL, NULL, &bytes, &size, &outcome, &problem),
        trial.status);
    if (trial.status == STATUS_OK) {
        assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
        compare_rows(hierarchy, &trial.matrix, shape);
    } else {
        assert_int_equal(outcome.cycle_length > 0, trial.outcome.cycle_length > 0);
    }
    hierarchy_close(hierarchy);
    free(bytes);
    solve_outcome_finish(&outcome);
    trial_finish(&trial);
}

static void compare_kinds(const struct graph *graph, uint32_t threads, const char *shape)
{
    if (graph->summary.integral) {
        compare(graph, KIND_I4, threads, shape);
    }
    compare(graph, KIND_F4, threads, shape);
    compare(graph, KIND_F8, threads, shape);
}

static bool quick(void)
{
    return getenv("APSPD_TEST_QUICK") != NULL;
}

static void every_size_is_the_same(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (uint32_t n = 1; n <= (quick() ? 110 : 300); n += n < 8 ? 1 : quick() ? 51 : 29) {
            struct edge_list list = shapes_make(&shapes[shape], n, n);
            struct graph *graph = edge_list_build(&list);
            compare_kinds(graph, 1 + n % 2, shapes[shape].name);
            graph_destroy(graph);
            edge_list_finish(&list);
        }
    }
}

static void a_negative_cycle_is_seen(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        struct edge_list list = shapes_make(&shapes[shape], quick() ? 40 : 120, 1);
        shapes_add_negative_cycle(&list, 1);
        struct graph *graph = edge_list_build(&list);
        compare_kinds(graph, 2, shapes[shape].name);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
}

static int open_cpu(void **state)
{
    (void)state;
    cpu = trial_open_cpu("auto", 1);
    return 0;
}

static int close_cpu(void **state)
{
    (void)state;
    solver_close(cpu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_the_same),
        cmocka_unit_test(a_negative_cycle_is_seen),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
