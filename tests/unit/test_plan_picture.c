#include "server/command/plan_picture.h"
#include "server/solver/planner.h"
#include "tests/unit/range_fixture.h"
#include "tests/unit/svg_fixture.h"

#define TILE 16

static struct plan_cost small_tiles(void)
{
    struct plan_cost cost = plan_cost_of_cpu(2);
    cost.tile = TILE;
    cost.round_s = 1e-7;
    cost.touch_s = 1e-8;
    cost.product_s = 1e-6;
    cost.planning_weight = 0;
    return cost;
}

/* A path, which falls apart at any vertex. */
static struct plan *plan_path(uint32_t vertex_count)
{
    const struct plan_cost cost = small_tiles();
    struct range_edge *edges = calloc(vertex_count + 1, sizeof(*edges));
    struct plan *plan = NULL;
    assert_non_null(edges);
    for (uint32_t vertex = 1; vertex < vertex_count; ++vertex) {
        edges[vertex - 1] = (struct range_edge){vertex - 1, vertex, 1};
    }
    struct graph *graph =
        range_build(vertex_count, edges, vertex_count > 0 ? vertex_count - 1 : 0, false);
    assert_int_equal(planner_make(graph, &cost, &plan), STATUS_OK);
    graph_destroy(graph);
    free(edges);
    return plan;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        ++count;
    }
    return count;
}

static void every_part_has_a_marker_and_every_separator_is_named(void **state)
{
    (void)state;
    struct plan *plan = plan_path(2000);
    struct svg svg = {0};
    size_t separators = 0;
    assert_int_equal(plan_picture_draw(plan, "a < b", &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_non_null(strstr(svg.text.bytes, "Plan of a &lt; b"));
    assert_non_null(strstr(svg.text.bytes, "2000 vertices"));
    for (uint32_t part = 0; plan->parts != NULL && part < plan->summary.parts; ++part) {
        separators += plan->parts[part].height > 0;
    }
    assert_int_equal(count_of(svg.text.bytes, "<title>separator of"), separators);
    assert_int_equal(count_of(svg.text.bytes, "<title>part of"),
                     plan->parts != NULL ? plan->summary.parts - separators : 0);
    svg_finish(&svg);
    plan_destroy(plan);
}

static void a_dense_plan_is_one_colour_and_has_no_tree(void **state)
{
    (void)state;
    struct plan *plan = plan_path(30);
    struct svg svg = {0};
    assert_int_equal(plan->summary.kind, PLAN_DENSE);
    assert_int_equal(plan_picture_draw(plan, "dense", &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_null(strstr(svg.text.bytes, "separator of"));
    svg_finish(&svg);
    plan_destroy(plan);
}

static void a_large_plan_is_drawn_in_few_cells(void **state)
{
    (void)state;
    struct plan *plan = plan_path(20000);
    struct svg svg = {0};
    assert_int_equal(plan_picture_draw(plan, "large", &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_true(count_of(svg.text.bytes, "<rect") < 240 * 240);
    svg_finish(&svg);
    plan_destroy(plan);
}

static void no_vertices_are_a_picture_too(void **state)
{
    (void)state;
    struct plan *plan = plan_path(0);
    struct svg svg = {0};
    assert_int_equal(plan_picture_draw(plan, "nothing", &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    svg_finish(&svg);
    plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_has_a_marker_and_every_separator_is_named),
        cmocka_unit_test(a_dense_plan_is_one_colour_and_has_no_tree),
        cmocka_unit_test(a_large_plan_is_drawn_in_few_cells),
        cmocka_unit_test(no_vertices_are_a_picture_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
