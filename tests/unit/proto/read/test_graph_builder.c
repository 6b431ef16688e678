#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(parallel_edges_are_merged_and_loops_are_dropped)
{
    struct graph *graph =
        read_text(FORMAT_DIMACS, "p sp 4 7\na 1 1 4\na 1 2 5\na 1 2 3\na 1 2 9\na 3 3 -2\n"
                                 "a 2 1 -1\na 1 3 2\n");

    assert_int_equal(graph->edge_count, 3);
    assert_int_equal(graph->target[0], 1);
    assert_int_equal(graph->weight_i4[0], 3);
    assert_int_equal(graph->summary.edges_read, 7);
    assert_int_equal(graph->summary.loops_dropped, 1);
    assert_int_equal(graph->summary.parallel_merged, 2);
    assert_int_equal(graph->summary.negative_loop, 2);
    assert_int_equal(graph->summary.components, 2);
    assert_true(graph->summary.negative && graph->summary.decimals == 0);
    assert_true(graph->summary.distance_bound == 4 && graph->summary.min_weight == -1);
    graph_destroy(graph);
}

TEST(undirected_edges_are_stored_once)
{
    struct graph_options options = {.has_directed = true};
    const char *text = "p sp 3 3\na 2 1 5\na 1 2 4\na 3 2 7.5\n";
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_DIMACS, &options, text, strlen(text), 100, &graph, NULL),
                     STATUS_OK);
    assert_false(graph->directed);
    assert_int_equal(graph->edge_count, 2);
    assert_int_equal(graph->weight_type, WEIGHT_REAL);
    assert_true(graph_weight(graph, 0) == 4 && graph_weight(graph, 1) == 7.5);
    assert_true(graph->summary.distance_bound == 4 + 7.5 + 7.5);
    graph_destroy(graph);
}

TEST(the_error_for_an_exceeded_limit_contains_the_line_number)
{
    struct graph_options options = {.vertex_limit = 3, .edge_limit = 1};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_DIMACS, &options, "p sp 4 0\n", 9, 100, &graph, &problem),
                     STATUS_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == 3 && problem.actual == 4);
    assert_int_equal(problem.line, 1);
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "1 2\n2 1\n", 8, 100, &graph, &problem),
                     STATUS_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == 1 && problem.line == 2);
}

TEST(the_hint_names_the_source_of_the_limit)
{
    struct graph_options options = {.vertex_limit = 3, .vertex_limit_reason = "host memory"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_DIMACS, &options, "p sp 4 0\n", 9, 100, &graph, &problem),
                     STATUS_TOO_LARGE);
    assert_non_null(strstr(problem.hint, "The limit comes from host memory. Split"));
    options.vertex_limit = 0;
    assert_int_equal(
        read_graph(FORMAT_DIMACS, &options, "p sp 4000000000 0\n", 18, 100, &graph, &problem),
        STATUS_TOO_LARGE);
    assert_true(problem.limit == GRAPH_VERTEX_LIMIT && problem.actual == 4e9);
    assert_null(strstr(problem.hint, "host memory"));
}

TEST(sorted_and_unsorted_edges_give_the_same_graph)
{
    struct graph *sorted =
        read_text(FORMAT_DIMACS, "p sp 3 4\na 1 2 7\na 1 3 2\na 1 3 1\na 3 1 4\n");
    struct graph *shuffled =
        read_text(FORMAT_DIMACS, "p sp 3 4\na 3 1 4\na 1 3 2\na 1 2 7\na 1 3 1\n");
    struct graph *lone = read_text(FORMAT_DIMACS, "p sp 3 4\na 1 3 2\na 1 2 7\na 1 3 1\na 3 1 4\n");

    assert_int_equal(sorted->edge_count, 3);
    assert_true(same_graph(sorted, shuffled));
    assert_true(same_graph(sorted, lone));
    graph_destroy(sorted);
    graph_destroy(shuffled);
    graph_destroy(lone);
}

TEST(edges_are_accepted_up_to_the_limit)
{
    struct graph_options options = {.edge_limit = 2};
    struct graph_builder builder = graph_builder_init(&options);
    struct problem problem = {0};

    assert_int_equal(graph_builder_add(&builder, 2, 1, 40, &problem), STATUS_OK);
    assert_int_equal(graph_builder_add(&builder, 0, 2, -0.0, &problem), STATUS_OK);
    assert_false(signbit(builder.list.edges[1].weight));
    assert_int_equal(graph_builder_add(&builder, 0, 1, 60, &problem), STATUS_TOO_LARGE);
    assert_true(problem.limit == 2 && problem.actual == 3);
    graph_builder_clear(&builder);
}

/* A weight that does not fit int32_t converts all previously stored weights to doubles. */
TEST(the_first_real_weight_converts_the_stored_integers_to_reals)
{
    struct graph *graph =
        read_text(FORMAT_DIMACS, "p sp 3 5\na 2 3 7\na 1 3 -2.5\na 1 2 4\na 1 2 3.5\na 3 3 -1\n");

    assert_int_equal(graph->weight_type, WEIGHT_REAL);
    assert_int_equal(graph->edge_count, 3);
    assert_true(graph->weight_f8[0] == 3.5 && graph->weight_f8[1] == -2.5 &&
                graph->weight_f8[2] == 7);
    assert_true(graph->summary.min_weight == -2.5 && graph->summary.max_weight == 7);
    assert_true(graph->summary.distance_bound == 10.5 && graph->summary.decimals == 1);
    assert_int_equal(graph->summary.components, 1);
    assert_int_equal(graph->summary.negative_loop, 2);
    graph_destroy(graph);
}
