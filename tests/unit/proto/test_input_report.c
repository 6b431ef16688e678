#include "proto/input_report.h"
#include "tests/lib/test.h"

#include <jansson.h>

static void check_text(const struct input_report *report, const char *expected)
{
    json_t *object = input_report_json(report);
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY);

    assert_string_equal(text, expected);
    free(text);
    json_decref(object);
}

/* Returns the report of an upload of this text, with its warnings if ret_warnings is not NULL. */
static struct input_report read_warned(enum format format, const char *text, const char *directed,
                                       struct warnings *ret_warnings)
{
    struct graph_options options = {.has_directed = directed != NULL};
    struct input_report report = {
        .format = format,
        .guessed = true,
        .bytes = strlen(text),
        .decoded_bytes = strlen(text),
        .direction = directed != NULL ? INPUT_DIRECTION_PARAMETER : INPUT_DIRECTION_DEFAULT,
    };
    struct reader *reader;
    struct graph *graph = NULL;

    options.directed = directed != NULL && strcmp(directed, "true") == 0;
    assert_int_equal(reader_create(format, &options, &reader), STATUS_OK);
    assert_int_equal(reader_feed(reader, text, strlen(text), NULL), STATUS_OK);
    assert_int_equal(reader_finish(reader, &graph, NULL), STATUS_OK);
    input_report_complete(&report, &reader->notes, graph);
    if (ret_warnings != NULL) {
        *ret_warnings = reader->notes.warnings;
        input_report_warn(&report, graph, ret_warnings);
    }
    graph_destroy(graph);
    reader_destroy(reader);
    return report;
}

static struct input_report report_of(enum format format, const char *text, const char *directed)
{
    return read_warned(format, text, directed, NULL);
}

TEST(each_reader_reports_its_interpretation)
{
    struct input_report report;

    report = report_of(FORMAT_EDGES, "from,to,km\na,b,2\n", NULL);
    report.coding = CODING_GZIP;
    check_text(&report, "{\"format\":\"edges\",\"guessed\":true,\"encoding\":\"gzip\","
                        "\"variant\":\"commas, with header\",\"weight\":\"km\",\"directed\":true,"
                        "\"directed_by\":\"default\",\"names\":\"strings\",\"bytes\":17,"
                        "\"decoded_bytes\":17,\"loops_dropped\":0,\"parallel_merged\":0}");
    report = report_of(FORMAT_EDGES, "1 2 5\n", "false");
    assert_string_equal(report.weight, "column 3");
    assert_string_equal(report.variant, "spaces, no header");
    assert_true(report.numeric_names && !report.directed);
    assert_int_equal(report.direction, INPUT_DIRECTION_PARAMETER);
    report = report_of(FORMAT_DIMACS, "p sp 1 0\n", NULL);
    check_text(&report, "{\"format\":\"dimacs\",\"guessed\":true,\"encoding\":null,"
                        "\"variant\":null,\"weight\":\"value\",\"directed\":true,"
                        "\"directed_by\":\"format\",\"names\":\"integers\",\"bytes\":9,"
                        "\"decoded_bytes\":9,\"loops_dropped\":0,\"parallel_merged\":0}");
    report = report_of(FORMAT_JSON, "{\"n\":2,\"edges\":[[0,1]]}", NULL);
    assert_string_equal(report.variant, "compact");
    assert_string_equal(report.weight, "");
    assert_int_equal(report.direction, INPUT_DIRECTION_DEFAULT);
    report = report_of(FORMAT_JSON,
                       "{\"directed\":true,\"nodes\":[{\"id\":1}],\"links\":"
                       "[{\"source\":1,\"target\":1,\"weight\":3}]}",
                       NULL);
    assert_string_equal(report.variant, "node-link");
    assert_string_equal(report.weight, "weight");
    assert_int_equal(report.direction, INPUT_DIRECTION_FORMAT);
}

TEST(a_known_report_is_printed_as_text)
{
    struct input_report report = report_of(FORMAT_METIS, "2 1 1\n2 7\n1 7\n", NULL);
    report.coding = CODING_ZSTD;
    char *text = input_report_print(&report);
    check_text(&report, text);
    assert_non_null(strstr(text, "\"encoding\":\"zstd\""));
    free(text);
}

TEST(edge_lists_without_a_direction_are_reported)
{
    static const struct {
        enum format format;
        const char *text;
        const char *directed;
        bool is_told;
    } cases[] = {
        {FORMAT_EDGES, "1 2 5\n2 3 5\n", NULL, true},
        {FORMAT_EDGES, "1 2 5\n2 3 5\n", "true", false},
        {FORMAT_EDGES, "1 2 5\n2 3 5\n", "false", false},
        {FORMAT_EDGES, "# Directed graph\n1 2 5\n2 3 5\n", NULL, false},
        {FORMAT_EDGES, "1 2 5\n3 4 1\n2 1 6\n", NULL, false},
        {FORMAT_EDGES, "1 1 5\n", NULL, false},
        {FORMAT_JSON, "{\"n\":2,\"edges\":[[0,1,4]]}", NULL, true},
        {FORMAT_JSON, "{\"n\":2,\"edges\":[[0,1,4]],\"directed\":true}", NULL, false},
        {FORMAT_DIMACS, "p sp 2 1\na 1 2 5\n", NULL, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct warnings warnings;

        read_warned(cases[i].format, cases[i].text, cases[i].directed, &warnings);
        assert_int_equal(warnings.count, cases[i].is_told);
        if (cases[i].is_told) {
            assert_int_equal(warnings.list[0].code, WARNING_DIRECTED_ASSUMED);
            assert_non_null(strstr(warnings.list[0].hint, "directed=false"));
        }
    }
}

TEST(parallel_edges_with_different_weights_are_reported)
{
    struct warnings warnings;
    struct input_report report;

    report = read_warned(FORMAT_EDGES, "1 2 5\n1 2 7\n1 2 7\n2 2 0\n", "true", &warnings);
    assert_int_equal(report.parallel_merged, 2);
    assert_int_equal(report.loops_dropped, 1);
    assert_int_equal(warnings.count, 1);
    assert_int_equal(warnings.list[0].code, WARNING_PARALLEL_MERGED);
    assert_non_null(strstr(warnings.list[0].detail, "edges dropped: 2."));
    report = read_warned(FORMAT_EDGES, "1 2 0.5\n1 2 .5\n", "true", &warnings);
    assert_int_equal(report.parallel_merged, 1);
    assert_int_equal(warnings.count, 0);
}

TEST(zeros_in_a_complete_matrix_are_reported)
{
#define ARRAY "%%MatrixMarket matrix array real "
    static const struct {
        enum format format;
        const char *text;
        bool is_told;
    } cases[] = {
        {FORMAT_MTX, ARRAY "general\n2 2\n0\n0\n5\n0\n", true},
        {FORMAT_MTX, ARRAY "symmetric\n3 3\n0\n0\n5\n0\n7\n0\n", true},
        {FORMAT_MTX, ARRAY "general\n2 2\n0\n0\ninf\n0\n", false},
        {FORMAT_MTX, ARRAY "general\n2 2\n0\n1\n5\n0\n", false},
        {FORMAT_MTX, ARRAY "general\n1 1\n0\n", false},
        {FORMAT_METIS, "3 2 001\n2 0\n1 0 3 5\n2 5\n", false},
        {FORMAT_DIMACS, "p sp 2 2\na 1 2 0\na 2 1 5\n", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct warnings warnings;

        read_warned(cases[i].format, cases[i].text, NULL, &warnings);
        assert_int_equal(warnings.count > 0 && warnings.list[0].code == WARNING_ZEROS_ARE_EDGES,
                         cases[i].is_told);
    }
}

TEST(suspicious_weights_are_reported)
{
    struct warnings warnings;

    read_warned(FORMAT_EDGES, "a b 0\nb a 0\n", NULL, &warnings);
    assert_int_equal(warnings.list[0].code, WARNING_ALL_WEIGHTS_ZERO);
    read_warned(FORMAT_EDGES, "source,target,cost\n1,2,4\n2,1,-1\n", NULL, &warnings);
    assert_int_equal(warnings.list[0].code, WARNING_NEGATIVE_COSTS);
    read_warned(FORMAT_EDGES, "source,target,cost\n1,2,4\n2,1,-2\n", NULL, &warnings);
    assert_int_equal(warnings.count, 0);
}

TEST(an_unknown_report_is_printed_as_null)
{
    const struct input_report nothing = {0};

    check_text(&nothing, "null");
    assert_null(input_report_print(&nothing));
}

TEST(errors_after_a_guessed_format_suggest_another_format_if_there_is_one)
{
    static const struct {
        enum format format;
        const char *words; /* part of the expected hint; NULL: no hint */
    } cases[] = {
        {FORMAT_EDGES, "list of edges"}, {FORMAT_METIS, "format=edges"}, {FORMAT_JSON, NULL}};

    for (size_t i = 0; i < 3; i++) {
        struct input_report report = {.known = true, .guessed = true, .format = cases[i].format};
        struct problem problem;

        problem_set(&problem, STATUS_BAD_GRAPH, "x");
        input_report_hint(&report, &problem);
        assert_int_equal(problem.hint[0] != '\0', cases[i].words != NULL);
        assert_non_null(strstr(problem.hint, cases[i].words == NULL ? "" : cases[i].words));
        problem_set(&problem, STATUS_BAD_GRAPH, "x");
        report.guessed = false;
        input_report_hint(&report, &problem);
        assert_int_equal(problem.hint[0], '\0');
    }
}
