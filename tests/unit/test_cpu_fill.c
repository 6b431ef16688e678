#include "proto/graph_builder.h"
#include "server/solver/cpu_fill.h"

#include <math.h>
/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* More rows than one task takes. */
#define VERTICES 300

static struct cpu_pool *pool;

static int create_pool(void **state)
{
    (void)state;
    return cpu_pool_create(2, &pool) == STATUS_OK ? 0 : 1;
}

static int destroy_pool(void **state)
{
    (void)state;
    cpu_pool_destroy(pool);
    return 0;
}

/* v -> 299 - v with weight v + unit, for v below 150. */
static struct graph *build(bool directed, double unit)
{
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    assert_int_equal(vertex_names_create_range(VERTICES, 0, &names), STATUS_OK);
    for (uint32_t vertex = 0; vertex < VERTICES / 2; ++vertex) {
        assert_int_equal(
            graph_builder_add_real(builder, vertex, VERTICES - 1 - vertex, vertex + unit),
            STATUS_OK);
    }
    assert_int_equal(graph_builder_finish(builder, &names, NULL, directed, &graph, NULL),
                     STATUS_OK);
    graph_builder_destroy(builder);
    return graph;
}

static double expected(uint32_t row, uint32_t column, bool directed, double unit)
{
    const bool forward = row < column;
    if (row == column) {
        return 0;
    }
    if (row + column != VERTICES - 1 || (directed && !forward)) {
        return INFINITY;
    }
    return (forward ? row : column) + unit;
}

static void check(bool directed, double unit, enum kind kind)
{
    struct graph *graph = build(directed, unit);
    struct matrix matrix = {VERTICES, kind, calloc((size_t)VERTICES * VERTICES, kind_size(kind))};
    assert_non_null(matrix.elements);
    cpu_fill_edges(pool, graph, &matrix);
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            double distance = INFINITY;
            if (!matrix_distance(&matrix, row, column, &distance)) {
                distance = INFINITY;
            }
            assert_true(distance == expected(row, column, directed, unit));
        }
    }
    free(matrix.elements);
    graph_destroy(graph);
}

static void edges_and_the_diagonal_are_filled_in(void **state)
{
    (void)state;
    check(true, 1, KIND_I4);
    check(true, 0, KIND_I4);
    check(true, 0.5, KIND_F4);
    check(true, 0.5, KIND_F8);
}

static void undirected_edges_are_filled_in_both_ways(void **state)
{
    (void)state;
    check(false, 1, KIND_I4);
    check(false, 0.5, KIND_F4);
    check(false, 0.5, KIND_F8);
}

static void drifted_integers_become_unreachable(void **state)
{
    (void)state;
    int32_t elements[4] = {UNREACHABLE_I4_DRIFT, UNREACHABLE_I4_DRIFT + 1, UNREACHABLE_I4 - 1,
                           -UNREACHABLE_I4_DRIFT};
    struct matrix matrix = {2, KIND_I4, elements};
    cpu_fill_canonical(pool, &matrix);
    assert_int_equal(elements[0], UNREACHABLE_I4_DRIFT);
    assert_int_equal(elements[1], UNREACHABLE_I4);
    assert_int_equal(elements[2], UNREACHABLE_I4);
    assert_int_equal(elements[3], -UNREACHABLE_I4_DRIFT);
}

static void a_diagonal_below_zero_is_found_or_lifted(void **state)
{
    (void)state;
    float f4[4] = {0, -5, -5, -1e-6F};
    double f8[4] = {-1e-12, -5, -5, 0};
    struct matrix narrow = {2, KIND_F4, f4};
    struct matrix wide = {2, KIND_F8, f8};
    assert_false(cpu_fill_check_diagonal(&narrow, false));
    assert_false(cpu_fill_check_diagonal(&wide, false));
    assert_true(cpu_fill_check_diagonal(&narrow, true));
    assert_true(cpu_fill_check_diagonal(&wide, true));
    assert_true(f4[3] == 0 && f8[0] == 0 && f4[1] < 0 && f8[2] < 0);
    assert_true(cpu_fill_check_diagonal(&narrow, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_and_the_diagonal_are_filled_in),
        cmocka_unit_test(undirected_edges_are_filled_in_both_ways),
        cmocka_unit_test(drifted_integers_become_unreachable),
        cmocka_unit_test(a_diagonal_below_zero_is_found_or_lifted),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
