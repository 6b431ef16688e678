#include "tests/lib/hierarchy_fixture.h"

#include <string.h>

static void check_order(const struct graph *graph)
{
    uint32_t *vertex_at = calloc(graph->vertex_count + 1, sizeof(*vertex_at));
    bool *seen = calloc(graph->vertex_count + 1, sizeof(*seen));
    assert_true(vertex_at != NULL && seen != NULL);
    assert_int_equal(hierarchy_order(graph, 2, NULL, vertex_at), STATUS_OK);
    for (uint32_t at = 0; at < graph->vertex_count; ++at) {
        assert_true(vertex_at[at] < graph->vertex_count && !seen[vertex_at[at]]);
        seen[vertex_at[at]] = true;
    }
    free(vertex_at);
    free(seen);
}

static void every_vertex_has_its_place(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        struct graph *graph = range_random(seed);
        check_order(graph);
        graph_destroy(graph);
    }
    struct graph *none = range_build(0, NULL, 0, true);
    check_order(none);
    graph_destroy(none);
}

/* The ends of a comb's teeth go before what they hang on: hardly an arc more than edges is left. */
static void a_tree_has_little_fill(void **state)
{
    (void)state;
    struct range_edge edges[199];
    for (uint32_t v = 1; v < 200; ++v) {
        const struct range_edge edge = {v % 2 == 0 ? v - 2 : v - 1, v, 1};
        edges[v - 1] = edge;
    }
    struct graph *graph = range_build(200, edges, 199, false);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_in_range(shape->arc_count, 199, 210);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
}

#define LEAVES 1000000

/* A search of the hub's neighbours for each leaf would take minutes. */
static void a_star_of_a_million_leaves_is_ordered(void **state)
{
    (void)state;
    struct range_edge *edges = calloc(LEAVES, sizeof(*edges));
    assert_non_null(edges);
    for (uint32_t leaf = 0; leaf < LEAVES; ++leaf) {
        edges[leaf] = (struct range_edge){0, leaf + 1, 1};
    }
    struct graph *graph = range_build(LEAVES + 1, edges, LEAVES, false);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_int_equal(shape->arc_count, LEAVES);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
    free(edges);
}

/* Its pattern would have more entries than an int32 counts. */
static void too_many_edges_are_refused(void **state)
{
    (void)state;
    uint32_t vertex_at[2];
    struct graph graph = {.vertex_count = 2, .edge_count = UINT64_C(1) << 30};
    assert_int_equal(hierarchy_order(&graph, 1, NULL, vertex_at), STATUS_TOO_LARGE);
}

/* A good order of a grid leaves some n log n arcs, the plain one n times the width. */
static void separators_keep_the_fill_of_a_grid_small(void **state)
{
    (void)state;
    struct graph *graph = make_grid(true);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_true(shape->arc_count < 7 * GRID_VERTICES);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vertex_has_its_place),
        cmocka_unit_test(a_tree_has_little_fill),
        cmocka_unit_test(a_star_of_a_million_leaves_is_ordered),
        cmocka_unit_test(too_many_edges_are_refused),
        cmocka_unit_test(separators_keep_the_fill_of_a_grid_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
