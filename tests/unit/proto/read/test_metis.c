#include "tests/lib/reader_fixture.h"

#define VERTEX_LIMIT 14

/* Writes a random undirected graph. It has the vertex sizes, vertex weights and edge weights that
 * fmt, a field of the header, declares. */
static void generate(uint64_t seed, struct text *text)
{
    unsigned n = 1 + (unsigned)fixture_next(&seed) % VERTEX_LIMIT;
    unsigned fmt = (unsigned)fixture_next(&seed) % 8;
    unsigned constraints = (fmt & 2) == 0 ? 0 : 1 + (unsigned)fixture_next(&seed) % 3;
    unsigned weights[VERTEX_LIMIT][VERTEX_LIMIT] = {{0}};
    unsigned m = 0;

    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i; j++) {
            weights[i][j] =
                fixture_next(&seed) % 3 == 0 ? 1 + (unsigned)fixture_next(&seed) % 9 : 0;
            weights[j][i] = weights[i][j];
            m += weights[i][j] > 0;
        }
    }
    text_printf(text, "%% a comment\n%u %u %u%u%u", n, m, fmt >> 2, fmt >> 1 & 1, fmt & 1);
    text_printf(text, constraints > 1 ? " %u\r\n" : "\n", constraints);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < constraints + (fmt >> 2); k++) {
            text_printf(text, " %u", k + 3);
        }
        for (unsigned j = n; j-- > 0;) {
            if (weights[i][j] > 0) {
                text_printf(text, (fmt & 1) != 0 ? " %u\t%u" : " %u", j + 1, weights[i][j]);
            }
        }
        text_append_string(text, i == 2 ? "\n%\n" : "\n");
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_METIS, generate);
}

static void check_counts(const char *text, uint32_t vertices, uint64_t edges, double weight)
{
    struct graph *graph = read_text(FORMAT_METIS, text);

    assert_false(graph->directed);
    assert_int_equal(graph->vertex_count, vertices);
    assert_int_equal(graph->edge_count, edges);
    if (edges > 0) {
        assert_true(graph_weight(graph, 0) == weight);
    }
    graph_destroy(graph);
}

TEST(every_fmt_code_is_read)
{
    check_counts("3 2\n2\n1 3\n2\n", 3, 2, 1);
    check_counts("3 2 001\n2 7\n1 7 3 8\n2 8\n", 3, 2, 7);
    check_counts("3 2 10\n9 2\n9 1 3\n9 2", 3, 2, 1);
    check_counts("3 2 111 2\n5 9 9 2 7\n5 9 9 1 7 3 8\n5 9 9 2 8\n", 3, 2, 7);
    check_counts("2 1 1\n2 0.25\n1 0.25\n", 2, 1, 0.25);
}

TEST(an_empty_line_is_a_vertex_without_neighbours)
{
    check_counts("\xEF\xBB\xBF"
                 "4 1\n2\n1\n\n\n",
                 4, 1, 1);
    check_counts("4 1\n2\n1\n\n", 4, 1, 1);
    check_counts("\n% c\n0 0\n\n\n", 0, 0, 0);
    check_counts("1 0", 1, 0, 0);
}

TEST(a_line_longer_than_any_buffer_is_read)
{
    struct text text = {0};

    text_append_string(&text, "30001 30000\n");
    for (unsigned v = 2; v <= 30001; v++) {
        text_printf(&text, "%u ", v);
    }
    text_append_char(&text, '\n');
    for (unsigned v = 2; v <= 30001; v++) {
        text_append_string(&text, "1\n");
    }
    assert_int_equal(text_status(&text), STATUS_OK);
    check_counts(text.bytes, 30001, 30000, 1);
    text_finish(&text);
}

TEST(parameters_take_effect_or_are_refused)
{
    static const char text[] = "2 1\n2\n1\n";
    struct graph_options options = {.has_directed = true, .directed = true};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "directed=true"));
    options.directed = false;
    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem), STATUS_OK);
    graph_destroy(graph);
    options = (struct graph_options){.weight = "x"};
    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.has_vertex_count = true, .vertex_count = 3};
    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.vertex_limit = 1};
    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem),
                     STATUS_TOO_LARGE);
    options = (struct graph_options){.edge_limit = 1};
    assert_int_equal(read_text_with(FORMAT_METIS, "3 2\n", &options, &graph, &problem),
                     STATUS_TOO_LARGE);
}

/* The header field fmt is 1, which declares edge weights. The neighbour lists are not sorted. */
TEST(neighbour_lists_may_be_in_any_order)
{
    struct graph *graph = read_text(FORMAT_METIS, "4 4 1\n4 2 3 2 2 2\n3 2 1 2\n1 2 2 2\n1 2\n");

    assert_int_equal(graph->edge_count, 4);
    assert_true(graph_weight(graph, 3) == 2);
    assert_int_equal(graph->row_offset[2], 4);
    assert_int_equal(graph->target[3], 2);
    graph_destroy(graph);
}

static void check_refusal(const char *text, const char *detail, uint64_t line, uint64_t column)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_METIS, text, &options, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, detail));
    assert_int_equal(problem.line, line);
    assert_int_equal(problem.column, column);
}

TEST(both_endpoints_must_list_an_edge_with_the_same_weight)
{
    static const char *const texts[] = {"2 2\n2 2\n1\n", "3 1\n\n3 1\n\n", "3 2\n2 3\n\n1\n",
                                        "2 1\n2\n\n", "2 1 1\n2 1\n1 2.5\n"};

    check_counts("2 2\n2 2\n1 1\n", 2, 1, 1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_refusal(texts[i], "do not list each other", 0, 0);
    }
    check_refusal("2 1\n2 1\n1\n", "Vertex 1 lists itself", 2, 3);
}
