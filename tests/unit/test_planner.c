#include "server/solver/planner.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct plan *make(uint32_t vertex_count, uint32_t tile)
{
    struct plan *plan = NULL;
    assert_int_equal(planner_dense(vertex_count, tile, &plan), STATUS_OK);
    assert_int_equal(plan->summary.kind, PLAN_DENSE);
    assert_int_equal(plan->vertex_count, vertex_count);
    assert_int_equal(plan->tile, tile);
    assert_null(plan->vertex_of);
    return plan;
}

static void no_vertices_need_no_steps(void **state)
{
    (void)state;
    struct plan *plan = make(0, 128);
    assert_int_equal(plan->tile_count, 0);
    assert_int_equal(plan->step_count, 0);
    assert_int_equal(plan->summary.parts, 0);
    plan_destroy(plan);
}

static void the_last_step_has_the_width_of_the_rest(void **state)
{
    (void)state;
    static const struct {
        uint32_t vertex_count, tile_count, last_width;
    } cases[] = {{1, 1, 1}, {127, 1, 127}, {128, 1, 128}, {129, 2, 1}, {256, 2, 128}, {257, 3, 1}};
    for (size_t index = 0; index < sizeof(cases) / sizeof(cases[0]); ++index) {
        struct plan *plan = make(cases[index].vertex_count, 128);
        assert_int_equal(plan->tile_count, cases[index].tile_count);
        assert_int_equal(plan->step_count, cases[index].tile_count);
        assert_int_equal(plan->steps[plan->step_count - 1].width, cases[index].last_width);
        assert_int_equal(plan->summary.parts, 1);
        plan_destroy(plan);
    }
}

static void every_vertex_is_pivot_once_in_order(void **state)
{
    (void)state;
    struct plan *plan = make(1000, 64);
    uint32_t pivots = 0;
    for (uint32_t index = 0; index < plan->step_count; ++index) {
        assert_int_equal(plan->steps[index].pivot_tile, index);
        assert_int_equal(index * plan->tile, pivots);
        pivots += plan->steps[index].width;
    }
    assert_int_equal(pivots, 1000);
    plan_destroy(plan);
}

static void every_step_lists_every_tile(void **state)
{
    (void)state;
    struct plan *plan = make(1000, 64);
    for (uint32_t index = 0; index < plan->step_count; ++index) {
        const struct plan_step *step = &plan->steps[index];
        assert_int_equal(step->row_tile_count, plan->tile_count);
        assert_int_equal(step->column_tile_count, plan->tile_count);
        for (uint32_t tile = 0; tile < plan->tile_count; ++tile) {
            assert_int_equal(step->row_tiles[tile], tile);
            assert_int_equal(step->column_tiles[tile], tile);
        }
    }
    plan_destroy(plan);
}

static void the_lists_of_a_large_plan_take_one_entry_per_tile(void **state)
{
    (void)state;
    struct plan *plan = make(200000, 128);
    assert_int_equal(plan->list_length, 1563);
    for (uint32_t index = 0; index < plan->step_count; ++index) {
        const struct plan_step *step = &plan->steps[index];
        assert_true(step->row_tiles + step->row_tile_count <= plan->lists + plan->list_length);
    }
    plan_destroy(plan);
}

static void the_largest_graph_has_a_plan(void **state)
{
    (void)state;
    struct plan *plan = make(UINT32_MAX, 65536);
    assert_int_equal(plan->tile_count, 65536);
    assert_int_equal(plan->steps[65535].width, 65535);
    plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_vertices_need_no_steps),
        cmocka_unit_test(the_last_step_has_the_width_of_the_rest),
        cmocka_unit_test(every_vertex_is_pivot_once_in_order),
        cmocka_unit_test(every_step_lists_every_tile),
        cmocka_unit_test(the_lists_of_a_large_plan_take_one_entry_per_tile),
        cmocka_unit_test(the_largest_graph_has_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
