#include "proto/adjacency.h"

#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

static struct adjacency *make(const char *json)
{
    struct graph_options options = {.vertex_limit = 100, .edge_limit = 100};
    struct adjacency *adjacency;
    struct graph *graph;

    assert_int_equal(read_graph(FORMAT_JSON, &options, json, strlen(json), 7, &graph, NULL),
                     STATUS_OK);
    assert_int_equal(adjacency_create(graph, &adjacency), STATUS_OK);
    graph_destroy(graph);
    return adjacency;
}

TEST(edges_are_grouped_by_target)
{
    struct adjacency *adjacency = make("{\"n\":4,\"edges\":[[0,3,5],[2,3,-7],[3,0,1],[0,1,0]]}");
    static const uint64_t offsets[] = {0, 1, 2, 2, 4};

    assert_int_equal(adjacency->vertex_count, 4);
    assert_memory_equal(adjacency->offset, offsets, sizeof offsets);
    assert_int_equal(adjacency->source[0], 3);
    assert_int_equal(adjacency->source[2], 0);
    assert_int_equal(adjacency->source[3], 2);
    assert_true(adjacency_weight(adjacency, 1) == 0 && adjacency_weight(adjacency, 3) == -7);
    adjacency_destroy(adjacency);
}

TEST(undirected_edges_are_stored_in_both_directions)
{
    struct adjacency *adjacency =
        make("{\"n\":3,\"directed\":false,\"edges\":[[2,0,0.5],[1,2,4]]}");
    static const uint64_t offsets[] = {0, 1, 2, 4};
    static const uint32_t sources[] = {2, 2, 0, 1};

    assert_memory_equal(adjacency->offset, offsets, sizeof offsets);
    assert_memory_equal(adjacency->source, sources, sizeof sources);
    assert_true(adjacency_weight(adjacency, 0) == 0.5 && adjacency_weight(adjacency, 3) == 4);
    adjacency_destroy(adjacency);
}

TEST(an_empty_graph_is_read)
{
    struct adjacency *adjacency = make("{\"n\":1,\"edges\":[]}");

    assert_int_equal(adjacency->offset[1], 0);
    adjacency_destroy(adjacency);
    adjacency_destroy(NULL);
}

TEST(the_size_of_an_adjacency_is_known_before_its_allocation)
{
    size_t bytes;

    assert_int_equal(adjacency_size(10, 100, true, WEIGHT_INTEGER, &bytes), STATUS_OK);
    assert_int_equal(bytes, 11 * 8 + 100 * 8);
    assert_int_equal(adjacency_size(10, 100, false, WEIGHT_REAL, &bytes), STATUS_OK);
    assert_int_equal(bytes, 11 * 8 + 200 * 12);
    assert_int_equal(adjacency_size(10, UINT64_MAX / 4, true, WEIGHT_REAL, &bytes),
                     STATUS_TOO_LARGE);
}
