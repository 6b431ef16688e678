#include "tests/lib/reader_fixture.h"

static void generate(uint64_t seed, struct text *text)
{
    unsigned n = 1 + (unsigned)fixture_next(&seed) % 20;
    unsigned m = (unsigned)fixture_next(&seed) % 40;
    bool linked = fixture_next(&seed) % 2 == 0;

    text_append_string(text, linked ? "{\"links\": [" : "{\"edges\":\n[");
    for (unsigned i = 0; i < m; i++) {
        text_printf(text,
                    linked ? "%s{\"source\":%u,\"x\":[{}],\"target\":%u,\"weight\":%u}"
                           : "%s[%u,%u,%u.5e0]",
                    i > 0 ? "," : "", (unsigned)fixture_next(&seed) % n,
                    (unsigned)fixture_next(&seed) % n, (unsigned)fixture_next(&seed) % 99);
    }
    text_printf(text, linked ? "],\"nodes\":[" : "],\"n\":%u}", n);
    for (unsigned i = 0; linked && i < n; i++) {
        text_printf(text, "%s{\"id\":%u}", i > 0 ? "," : "", n - 1 - i);
    }
    if (linked) {
        text_append_string(text, "]}");
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_JSON, generate);
}

TEST(both_json_styles_have_the_same_defaults)
{
    struct graph *compact = read_text(FORMAT_JSON, "{\"n\":3,\"edges\":[[0,1]]}");
    struct graph *linked =
        read_text(FORMAT_JSON, "{\"edges\":[{\"source\":\"b\",\"target\":\"\\u0061\"}],"
                               "\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"}]}");
    uint32_t row = 9;

    assert_true(compact->directed && linked->directed);
    assert_true(graph_weight(linked, 0) == 1);
    assert_true(vertex_names_find(linked->names, "b", 1, &row));
    assert_int_equal(row, 1);
    graph_destroy(compact);
    graph_destroy(linked);
}

static enum status read_weighted(const char *text, const char *weight, struct graph **ret_graph)
{
    struct graph_options options = {0};
    struct problem problem = {0};

    memcpy(options.weight, weight, strlen(weight) + 1);
    return read_graph(FORMAT_JSON, &options, text, strlen(text), 5, ret_graph, &problem);
}

TEST(the_weight_parameter_applies_only_to_node_link_documents)
{
    const char *linked = "{\"nodes\":[{\"id\":0},{\"id\":1}],"
                         "\"links\":[{\"source\":0,\"target\":1,\"km\":7}]}";
    struct graph *graph = NULL;

    assert_int_equal(read_weighted("{\"n\":3,\"edges\":[[0,1]]}", "km", &graph),
                     STATUS_BAD_PARAMETER);
    assert_int_equal(read_weighted("{\"n\":3,\"edges\":[[0,1]],\"weights\":[7]}", "", &graph),
                     STATUS_BAD_GRAPH);
    assert_int_equal(read_weighted(linked, "miles", &graph), STATUS_BAD_PARAMETER);
    assert_int_equal(read_weighted(linked, "km", &graph), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 7);
    graph_destroy(graph);
}

/* Returns the weight of an edge with these members, or -1 if the edge is refused with a hint. */
static double weight_of(const char *members)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    char text[400];
    double weight = -1;
    int size = snprintf(text, sizeof text,
                        "{\"nodes\":[{\"id\":0},{\"id\":1}],\"edges\":[{\"from\":0,\"to\":1,%s}]}",
                        members);

    if (read_graph(FORMAT_JSON, &options, text, (size_t)size, 5, &graph, &problem) == STATUS_OK) {
        weight = graph_weight(graph, 0);
    } else {
        assert_int_equal(problem.status, STATUS_BAD_GRAPH);
        assert_true(problem.line == 1 && problem.column >= 39);
        assert_non_null(strstr(problem.hint, "weight="));
    }
    graph_destroy(graph);
    return weight;
}

TEST(weights_are_recognized_by_the_names_used_for_edge_lists)
{
    static const char *const names[] = {"weight", "value", "length", "distance", "Cost (km)"};
    char members[100];

    for (size_t i = 0; i < 5; i++) {
        snprintf(members, sizeof members, "\"%s\":7,\"values\":3", names[i]);
        assert_true(weight_of(members) == 7);
        snprintf(members, sizeof members, "\"%s\":\"7\"", names[i]);
        assert_true(weight_of(members) == -1);
    }
    assert_true(weight_of("\"km\":7") == -1);
    assert_true(weight_of("\"data\":{\"weight\":\"7\"}") == -1);
    assert_true(weight_of("\"km\":\"7\"") == -1);
    assert_true(weight_of("\"data\":{\"of\":{\"km\":7}}") == -1);
    assert_true(weight_of("\"id\":7,\"points\":[1,2],\"data\":{\"km\":null}") == 1);
    assert_true(weight_of("\"km\":7},{\"from\":1,\"to\":0,\"weight\":3") == -1);
    assert_true(weight_of("\"length\":\"5 m\",\"weight\":7,\"value\":3,\"cost\":4") == 7);
    assert_true(weight_of("\"length\":5,\"value\":3") == -1);
    assert_true(weight_of("\"value\":3},{\"from\":1,\"to\":0,\"value\":4,\"label\":\"x\"") == 3);
    assert_true(weight_of("\"value\":3},{\"from\":1,\"to\":0,\"length\":4") == -1);
    assert_true(weight_of("\"value\":3,\"weight\":5},{\"from\":1,\"to\":0") == -1);
}

TEST(edges_with_ambiguous_weights_are_refused)
{
    assert_true(weight_of("\"weight\":7,\"weight_km\":3") == -1);
    assert_true(weight_of("\"weight_km\":3,\"weight\":7,\"value\":4") == -1);
    assert_true(weight_of("\"value\":3,\"length\":3,\"weight\":7") == 7);
    assert_true(weight_of("\"length_km\":3},{\"from\":1,\"to\":0,\"length_m\":4") == -1);
    assert_true(weight_of("\"weights\":[5]") == -1);
    assert_true(weight_of("\"data\":{\"lengths\":[5,6]}") == -1);
    assert_true(weight_of("\"weights\":[5],\"weight\":7") == 7);
    assert_true(weight_of("\"width\":3,\"label\":\"x\"") == -1);
}

/* vis.js writes a width and a label for each edge, neither of which is a weight. */
TEST(all_attributes_are_ignored_if_weight_is_none)
{
    static const char unweighted[] =
        "{\"nodes\":[{\"id\":0},{\"id\":1}],\"edges\":"
        "[{\"from\":0,\"to\":1,\"width\":3,\"label\":\"5\",\"value\":\"x\",\"none\":2}]}";
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_weighted(unweighted, "none", &graph), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 1);
    graph_destroy(graph);
    for (size_t i = 0; i < 2; i++) {
        static const char *const members[] = {"\"width\":3", "\"label\":\"5\""};
        static const char *const hints[] = {"weight=width", "a number in the edge itself"};
        char text[200];

        snprintf(text, sizeof text,
                 "{\"nodes\":[{\"id\":0},{\"id\":1}],\"edges\":[{\"from\":0,\"to\":1,%s}]}",
                 members[i]);
        assert_int_equal(read_graph(FORMAT_JSON, &options, text, strlen(text), 5, &graph, &problem),
                         STATUS_BAD_GRAPH);
        assert_non_null(strstr(problem.hint, hints[i]));
        assert_non_null(strstr(problem.hint, "weight=none"));
    }
}

TEST(edge_endpoints_are_read_from_one_pair_of_keys)
{
    static const char *const nodes = "{\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"}],\"links\":[";
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    char text[300];

    snprintf(text, sizeof text,
             "%s{\"source\":\"a\",\"target\":\"b\",\"from\":\"Monday\",\"to\":{}}]}", nodes);
    graph = read_text(FORMAT_JSON, text);
    assert_int_equal(graph->edge_count, 1);
    graph_destroy(graph);
    snprintf(text, sizeof text, "%s{\"from\":\"a\",\"to\":\"b\",\"source\":\"x\"}]}", nodes);
    assert_int_equal(read_graph(FORMAT_JSON, &options, text, strlen(text), 3, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "\"from\""));
    snprintf(text, sizeof text, "%s{\"from\":\"a\",\"target\":\"b\"}]}", nodes);
    assert_int_equal(read_graph(FORMAT_JSON, &options, text, strlen(text), 3, &graph, &problem),
                     STATUS_BAD_GRAPH);
}

TEST(keys_with_a_nul_byte_are_compared_in_full)
{
    struct graph *graph = read_text(FORMAT_JSON, "{\"n\":3,\"n\\u0000x\":1,\"edges\":[[0,2]]}");

    assert_int_equal(graph->vertex_count, 3);
    graph_destroy(graph);
}
