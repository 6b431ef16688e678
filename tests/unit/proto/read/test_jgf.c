#include "tests/lib/reader_fixture.h"

static void append_edges(uint64_t *seed, unsigned n, unsigned m, struct text *text)
{
    text_append_string(text, "\"edges\":[");
    for (unsigned i = 0; i < m; i++) {
        text_printf(text, "%s{\"target\":\"v%u\",\"relation\":\"x\",", i > 0 ? ",\n" : "",
                    (unsigned)fixture_next(seed) % n);
        text_printf(text, "\"metadata\":{\"a\":[{}],\"weight\":%u.5},",
                    (unsigned)fixture_next(seed) % 90);
        if (fixture_next(seed) % 4 == 0) {
            text_append_string(text, "\"directed\":false,");
        }
        text_printf(text, "\"source\":\"v%u\"}", (unsigned)fixture_next(seed) % n);
    }
    text_append_char(text, ']');
}

static void generate(uint64_t seed, struct text *text)
{
    unsigned n = 1 + (unsigned)fixture_next(&seed) % 12;
    bool keyed = fixture_next(&seed) % 2 == 0;
    bool listed = fixture_next(&seed) % 2 == 0;

    text_append_string(text, listed ? "{\"graphs\":[{" : "{\"graph\":{");
    append_edges(&seed, n, (unsigned)fixture_next(&seed) % 20, text);
    text_append_string(text, keyed ? ",\"nodes\":{" : ",\"nodes\":[");
    for (unsigned i = 0; i < n; i++) {
        text_printf(text, keyed ? "%s\"v%u\":{\"label\":\"n\"}" : "%s{\"id\":\"v%u\"}",
                    i > 0 ? "," : "", i);
    }
    text_append_string(text, keyed ? "}" : "]");
    text_append_string(text, listed ? "}]}" : "},\"x\":{\"edges\":1}}");
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_JGF, generate);
}

#define VERSION_1                                                                                  \
    "{\"graph\":{\"directed\":false,\"nodes\":[{\"id\":\"b\"},{\"id\":\"a\"}],"                    \
    "\"edges\":[{\"source\":\"a\",\"target\":\"b\",\"metadata\":{\"weight\":7,\"km\":2.5}}]}}"
#define VERSION_2                                                                                  \
    "{\"graph\":{\"edges\":[{\"source\":\"a\",\"target\":\"b\",\"metadata\":{\"weight\":7}}],"     \
    "\"directed\":false,\"nodes\":{\"b\":{},\"a\":{\"metadata\":{\"weight\":1}}}}}"

TEST(both_versions_of_the_format_give_the_same_graph)
{
    struct graph *one = read_text(FORMAT_JGF, VERSION_1);
    struct graph *two = read_text(FORMAT_JGF, VERSION_2);
    uint32_t row = 9;

    assert_true(same_graph(one, two));
    assert_false(one->directed);
    assert_int_equal(one->edge_count, 1);
    assert_true(graph_weight(one, 0) == 7);
    assert_true(vertex_names_find(one->names, "a", 1, &row));
    assert_int_equal(row, 1);
    graph_destroy(one);
    graph_destroy(two);
}

TEST(missing_weights_count_as_one)
{
    struct graph *graph = read_text(FORMAT_JGF, "{\"graphs\":[{\"nodes\":{\"1\":{},\"2\":{}}}]}");

    assert_true(graph->directed);
    assert_int_equal(graph->vertex_count, 2);
    assert_int_equal(graph->edge_count, 0);
    assert_false(vertex_names_numeric(graph->names));
    graph_destroy(graph);
    graph = read_text(FORMAT_JGF, "{\"graph\":{\"nodes\":[{\"id\":1},{\"id\":2}],"
                                  "\"edges\":[{\"source\":1,\"target\":2,\"metadata\":null}]}}");
    assert_true(graph_weight(graph, 0) == 1);
    assert_true(vertex_names_numeric(graph->names));
    graph_destroy(graph);
}

#define MIXED                                                                                      \
    "{\"graph\":{\"nodes\":{\"a\":{},\"b\":{},\"c\":{}},\"edges\":["                               \
    "{\"source\":\"a\",\"target\":\"b\",\"directed\":false,\"metadata\":{\"weight\":2}},"          \
    "{\"source\":\"b\",\"target\":\"c\",\"metadata\":{\"weight\":1}}]%s}}"

TEST(an_edge_may_override_the_default_direction)
{
    struct graph_options options = {.has_directed = true, .directed = false};
    struct text text = {0};
    struct graph *graph;

    text_printf(&text, MIXED, "");
    graph = read_text(FORMAT_JGF, text.bytes);
    assert_true(graph->directed);
    assert_int_equal(graph->edge_count, 3);
    assert_int_equal(graph->target[1], 0);
    assert_true(graph_weight(graph, 1) == 2);
    graph_destroy(graph);
    assert_int_equal(read_text_with(FORMAT_JGF, text.bytes, &options, &graph, NULL), STATUS_OK);
    assert_false(graph->directed);
    assert_int_equal(graph->edge_count, 2);
    graph_destroy(graph);
    text_finish(&text);
}

TEST(the_weight_parameter_selects_a_metadata_member)
{
    struct graph_options options = {.weight = "km"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_JGF, VERSION_1, &options, &graph, &problem), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 2.5);
    graph_destroy(graph);
    assert_int_equal(read_text_with(FORMAT_JGF, VERSION_2, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "weight=km"));
    options = (struct graph_options){.has_vertex_count = true, .vertex_count = 3};
    assert_int_equal(read_text_with(FORMAT_JGF, VERSION_1, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.vertex_limit = 1};
    assert_int_equal(read_text_with(FORMAT_JGF, VERSION_1, &options, &graph, &problem),
                     STATUS_TOO_LARGE);
    options = (struct graph_options){.edge_limit = 2};
    assert_int_equal(read_text_with(FORMAT_JGF,
                                    "{\"graph\":{\"nodes\":{\"a\":{},\"b\":{}},\"edges\":["
                                    "{\"source\":\"a\",\"target\":\"b\",\"directed\":false},"
                                    "{\"source\":\"a\",\"target\":\"b\"}]}}",
                                    &options, &graph, &problem),
                     STATUS_TOO_LARGE);
}

/* Returns the weight of an edge with these members, or -1 if the edge is refused with a hint that
 * contains `hint`. */
static double weight_of(const char *members, const char *weight, const char *hint)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    struct text text = {0};
    double value = -1;

    memcpy(options.weight, weight, strlen(weight) + 1);
    text_printf(&text,
                "{\"graph\":{\"nodes\":{\"a\":{},\"b\":{}},\"edges\":[{\"source\":\"a\","
                "\"target\":\"b\",%s}]}}",
                members);
    if (read_text_with(FORMAT_JGF, text.bytes, &options, &graph, &problem) == STATUS_OK) {
        value = graph_weight(graph, 0);
    } else {
        assert_int_equal(problem.status, STATUS_BAD_GRAPH);
        if (strstr(problem.hint, hint) == NULL) {
            fail_msg("%s: %s", members, problem.hint);
        }
        assert_non_null(strstr(problem.hint, "weight=none"));
    }
    graph_destroy(graph);
    text_finish(&text);
    return value;
}

/* Each hint suggests a change of the upload. The test makes this change and expects success. */
TEST(each_hint_about_a_weight_names_a_working_remedy)
{
    static const char itself[] = "\"metadata\": {\"weight\": 5}";

    assert_true(weight_of("\"metadata\":{\"value\":5}", "", "") == 5);
    assert_true(weight_of("\"metadata\":{\"km\":5}", "", "weight=km") == -1);
    assert_true(weight_of("\"metadata\":{\"km\":5}", "km", "") == 5);
    assert_true(weight_of("\"weight\":5", "", itself) == -1);
    assert_true(weight_of("\"km\":5", "", itself) == -1);
    assert_true(weight_of("\"data\":{\"km\":5}", "", itself) == -1);
    assert_true(weight_of("\"metadata\":{\"km\":\"5\"}", "", itself) == -1);
    assert_true(weight_of("\"metadata\":{\"of\":{\"km\":5}}", "", itself) == -1);
    assert_true(weight_of("\"metadata\": {\"weight\": 5}", "", "") == 5);
    assert_true(weight_of("\"metadata\":{\"km\":5,\"value\":7},\"weight\":3", "none", "") == 1);
}
