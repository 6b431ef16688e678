#include "server/solver/order/leaf.h"

#include "tests/lib/range_fixture.h"

/* Vertex 0 has four neighbours, which have no other neighbours. The leaf consists of vertices 0, 1
 * and 2. */
TEST(the_vertex_of_minimum_degree_is_eliminated_first)
{
    static const struct range_edge edges[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 5, 1}};
    struct graph *graph = range_build(6, edges, 4, false);
    struct leaf_scratch scratch;
    struct pattern pattern;
    uint32_t mark[6];
    assert_int_equal(pattern_make(graph, NULL, mark, &pattern), STATUS_OK);
    assert_int_equal(leaf_scratch_init(&scratch, 6), STATUS_OK);
    for (int again = 0; again < 2; ++again) {
        uint32_t vertices[] = {0, 1, 2};
        assert_int_equal(leaf_order(&scratch, &pattern, vertices, 3), STATUS_OK);
        assert_int_equal(vertices[0], 1);
        assert_int_equal(vertices[1], 2);
        assert_int_equal(vertices[2], 0);
    }
    leaf_scratch_finish(&scratch);
    pattern_finish(&pattern);
    graph_destroy(graph);
}

/* The graph is a ring of 4 vertices with a chord from 0 to 2. When vertex 1 has been eliminated,
 * each other vertex has 2 neighbours, so the vertices follow in the order of their numbers. */
TEST(an_elimination_updates_the_degrees_of_the_neighbours)
{
    static const struct range_edge edges[] = {
        {0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}, {0, 2, 1}};
    struct graph *graph = range_build(4, edges, 5, false);
    struct leaf_scratch scratch;
    struct pattern pattern;
    uint32_t mark[4];
    uint32_t vertices[] = {0, 1, 2, 3};
    assert_int_equal(pattern_make(graph, NULL, mark, &pattern), STATUS_OK);
    assert_int_equal(leaf_scratch_init(&scratch, 4), STATUS_OK);
    assert_int_equal(leaf_order(&scratch, &pattern, vertices, 4), STATUS_OK);
    assert_int_equal(vertices[0], 1);
    assert_int_equal(vertices[3], 3);
    leaf_scratch_finish(&scratch);
    pattern_finish(&pattern);
    graph_destroy(graph);
}
