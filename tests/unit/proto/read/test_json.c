#include "tests/unit/reader_fixture.h"

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

static void any_split_gives_the_same_graph(void **state)
{
    (void)state;
    check_any_split(FORMAT_JSON, generate);
}

static struct graph *read_text(const char *text)
{
    struct graph_options options = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_JSON, &options, text, strlen(text), 5, &graph, NULL),
                     STATUS_OK);
    return graph;
}

static void defaults_follow_the_style(void **state)
{
    struct graph *compact = read_text("{\"n\":3,\"edges\":[[0,1]]}");
    struct graph *linked = read_text("{\"edges\":[{\"source\":\"b\",\"target\":\"\\u0061\"}],"
                                     "\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"}]}");
    uint32_t row = 9;

    (void)state;
    assert_true(compact->directed && !linked->directed);
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

static void weight_names_an_attribute_of_linked_edges_alone(void **state)
{
    const char *linked = "{\"nodes\":[{\"id\":0},{\"id\":1}],"
                         "\"links\":[{\"source\":0,\"target\":1,\"km\":7}]}";
    struct graph *graph = NULL;

    (void)state;
    assert_int_equal(read_weighted("{\"n\":3,\"edges\":[[0,1]]}", "km", &graph),
                     STATUS_BAD_PARAMETER);
    assert_int_equal(read_weighted(linked, "miles", &graph), STATUS_BAD_PARAMETER);
    assert_int_equal(read_weighted(linked, "km", &graph), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 7);
    graph_destroy(graph);
}

static void keys_are_compared_to_their_end(void **state)
{
    struct graph *graph = read_text("{\"n\":3,\"n\\u0000x\":1,\"edges\":[[0,2]]}");

    (void)state;
    assert_int_equal(graph->vertex_count, 3);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_gives_the_same_graph),
        cmocka_unit_test(defaults_follow_the_style),
        cmocka_unit_test(weight_names_an_attribute_of_linked_edges_alone),
        cmocka_unit_test(keys_are_compared_to_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
