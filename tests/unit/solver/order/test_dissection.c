#include "server/solver/order/dissection.h"

#include "server/solver/order/separator.h"
#include "tests/lib/range_fixture.h"

#define VERTICES 300
#define GRID 110

static struct range_edge edges[VERTICES * VERTICES / 2];

static struct pattern make_pattern(size_t edge_count)
{
    static uint32_t mark[VERTICES];
    struct pattern pattern;
    struct graph *graph = range_build(VERTICES, edges, edge_count, false);
    assert_int_equal(pattern_make(graph, NULL, mark, &pattern), STATUS_OK);
    graph_destroy(graph);
    return pattern;
}

static struct pattern make_path(void)
{
    for (uint32_t i = 0; i + 1 < VERTICES; ++i) {
        edges[i] = (struct range_edge){i, i + 1, 1};
    }
    return make_pattern(VERTICES - 1);
}

static struct pattern make_clique(void)
{
    size_t count = 0;
    for (uint32_t a = 0; a < VERTICES; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            edges[count++] = (struct range_edge){a, b, 1};
        }
    }
    return make_pattern(count);
}

TEST(a_path_has_thin_levels_and_a_clique_has_none)
{
    struct pattern path = make_path();
    struct pattern clique = make_clique();
    bool found = false;
    assert_int_equal(dissection_has_thin_level(&path, &found), STATUS_OK);
    assert_true(found);
    assert_int_equal(dissection_has_thin_level(&clique, &found), STATUS_OK);
    assert_false(found);
    pattern_finish(&path);
    pattern_finish(&clique);
}

TEST(a_path_is_divided_and_a_clique_is_a_leaf)
{
    for (int which = 0; which < 2; ++which) {
        uint32_t vertex_at[VERTICES];
        struct order_node nodes[2 * VERTICES + 2];
        struct dissection dissection = {.vertex_at = vertex_at, .nodes = nodes};
        struct pattern pattern = which == 0 ? make_path() : make_clique();
        uint32_t root = NO_NODE;
        for (uint32_t i = 0; i < VERTICES; ++i) {
            vertex_at[i] = i;
        }
        assert_int_equal(dissection_divide(&dissection, &pattern, 0, &root), STATUS_OK);
        assert_null(pattern.target);
        assert_int_equal(root + 1, dissection.node_count);
        assert_int_equal(nodes[root].begin, 0);
        assert_int_equal(nodes[root].end, VERTICES);
        assert_int_equal(nodes[root].child[0] != NO_NODE, which == 0 && separator_present());
    }
}

/* The grid is so large that its sides are divided at the same time. */
TEST(all_threads_are_idle_after_a_division)
{
    struct graph *graph = range_grid(GRID);
    static uint32_t vertex_at[GRID * GRID];
    static struct order_node nodes[2 * GRID * GRID];
    for (uint32_t idle = 0; idle < 3; ++idle) {
        struct dissection dissection = {
            .vertex_at = vertex_at, .nodes = nodes, .leaf = DISSECTION_LEAF, .idle = idle};
        struct pattern pattern;
        uint32_t root = NO_NODE;
        assert_int_equal(pattern_make(graph, NULL, vertex_at, &pattern), STATUS_OK);
        for (uint32_t i = 0; i < GRID * GRID; ++i) {
            vertex_at[i] = i;
        }
        assert_int_equal(dissection_divide(&dissection, &pattern, 0, &root), STATUS_OK);
        assert_int_equal(nodes[root].end, GRID * GRID);
        assert_int_equal(dissection.idle, idle);
    }
    graph_destroy(graph);
}
