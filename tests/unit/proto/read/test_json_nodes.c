#include "proto/read/json_nodes.h"
#include "tests/lib/test.h"

struct fixture {
    struct reader *reader;
    struct json_nodes nodes;
};

static int set_up(void **state)
{
    struct graph_options options = {.vertex_limit = 3};
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    assert_int_equal(reader_create(FORMAT_JSON, &options, &fixture->reader), STATUS_OK);
    assert_int_equal(json_nodes_init(&fixture->nodes, fixture->reader), STATUS_OK);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    json_nodes_finish(&fixture->nodes);
    json_nodes_finish(&fixture->nodes);
    reader_destroy(fixture->reader);
    free(fixture);
    return 0;
}

static struct json_token token_of(enum json_token_kind kind, const char *text, uint64_t column)
{
    return (struct json_token){
        .kind = kind, .text = text, .size = strlen(text), .place = {1, column}};
}

static enum status name(struct fixture *fixture, const char *text, uint64_t column,
                        struct problem *reterr)
{
    struct json_token token = token_of(JSON_TOKEN_NUMBER, text, column);
    uint32_t row;

    return json_nodes_name(&fixture->nodes, &token, &row, reterr);
}

static enum status list(struct fixture *fixture, const char *text, struct problem *reterr)
{
    struct json_token token = token_of(JSON_TOKEN_NUMBER, text, 1);

    return json_nodes_list(&fixture->nodes, &token, reterr);
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(rows_are_numbered_in_the_order_of_the_node_list)
{
    struct graph *graph;
    uint32_t row;

    assert_int_equal(name(fixture, "7", 1, NULL), STATUS_OK);
    assert_int_equal(list(fixture, "9", NULL), STATUS_OK);
    assert_int_equal(list(fixture, "7", NULL), STATUS_OK);
    assert_int_equal(graph_builder_add(&fixture->reader->builder, 0, 1, 5, NULL), STATUS_OK);
    assert_int_equal(json_nodes_build(&fixture->nodes, true, &graph, NULL), STATUS_OK);
    assert_true(vertex_names_find(graph->names, "9", 1, &row));
    assert_int_equal(row, 0);
    assert_true(vertex_names_numeric(graph->names));
    assert_int_equal(graph->row_offset[1], 0);
    assert_int_equal(graph->target[0], 0);
    graph_destroy(graph);
}

FIXTURE_TEST(an_unlisted_name_is_refused_at_its_first_occurrence)
{
    struct graph *graph = NULL;
    struct problem problem;

    assert_int_equal(name(fixture, "7", 11, NULL), STATUS_OK);
    assert_int_equal(name(fixture, "7", 22, NULL), STATUS_OK);
    assert_int_equal(json_nodes_build(&fixture->nodes, true, &graph, &problem), STATUS_BAD_GRAPH);
    assert_null(graph);
    assert_int_equal(problem.column, 11);
    assert_string_equal(problem.detail, "Vertex '7' is not in the list of nodes.");
}

FIXTURE_TEST(a_duplicate_name_or_a_mix_of_types_is_refused)
{
    struct json_token string = token_of(JSON_TOKEN_STRING, "7", 5);
    struct problem problem;
    uint32_t row;

    assert_int_equal(list(fixture, "7", NULL), STATUS_OK);
    assert_int_equal(list(fixture, "7", &problem), STATUS_BAD_GRAPH);
    assert_string_equal(problem.detail, "Two nodes have this id.");
    assert_int_equal(json_nodes_name(&fixture->nodes, &string, &row, &problem), STATUS_BAD_GRAPH);
    assert_int_equal(problem.column, 5);
    assert_int_equal(name(fixture, "7.5", 1, &problem), STATUS_BAD_GRAPH);
}

FIXTURE_TEST(vertices_beyond_the_limit_are_refused)
{
    struct problem problem;

    assert_int_equal(list(fixture, "1", NULL), STATUS_OK);
    assert_int_equal(list(fixture, "2", NULL), STATUS_OK);
    assert_int_equal(name(fixture, "3", 1, NULL), STATUS_OK);
    assert_int_equal(name(fixture, "4", 1, &problem), STATUS_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == 3);
}
