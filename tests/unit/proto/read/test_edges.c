#include "tests/unit/reader_fixture.h"

static void generate(uint64_t seed, struct text *text)
{
    static const char delimiters[] = "\t,; ";
    char delimiter = delimiters[fixture_next(&seed) % 4];
    unsigned m = 1 + (unsigned)fixture_next(&seed) % 60;
    bool strings = fixture_next(&seed) % 2 == 0;

    text_append_string(text, "# comment\n");
    for (unsigned i = 0; i < m; i++) {
        text_printf(text, "%s%u%c%s%u%s%c%u\r\n", strings ? "v" : "",
                    (unsigned)fixture_next(&seed) % 40, delimiter, strings ? "\"v" : "",
                    (unsigned)fixture_next(&seed) % 40, strings ? "\"" : "", delimiter,
                    (unsigned)fixture_next(&seed) % 90);
    }
}

static void any_split_gives_the_same_graph(void **state)
{
    (void)state;
    check_any_split(FORMAT_EDGES, generate);
}

static struct graph *read_text(const char *text)
{
    struct graph_options options = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_EDGES, &options, text, strlen(text), 5, &graph, NULL),
                     STATUS_OK);
    return graph;
}

static void check_first(const char *text, uint32_t vertices, const char *first, double weight)
{
    struct graph *graph = read_text(text);
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(graph->names, 0, buffer, &size);

    assert_int_equal(graph->vertex_count, vertices);
    assert_int_equal(size, strlen(first));
    assert_memory_equal(name, first, size);
    assert_true(graph_weight(graph, 0) == weight);
    graph_destroy(graph);
}

static void headers_and_columns_are_found(void **state)
{
    (void)state;
    check_first("origin,destination,count\nABE,ATL,853\n", 2, "ABE", 853);
    check_first("ABE,ATL,853\n", 2, "ABE", 853);
    check_first("\"station1\",\"station2\",\"line\",\"time\"\r\n11,163,1,4\r\n", 2, "11", 4);
    check_first("a_id,b_id,km\nx,y,2.5\n", 2, "x", 2.5);
    check_first("9 3\n", 2, "3", 1);
    check_first("w,target,source\n5,b,a\n", 2, "a", 5);
    check_first("a;\"b \"\"c\"\"\";2\n", 2, "a", 2);
}

static void weight_is_chosen_by_name_or_number(void **state)
{
    struct graph_options options = {.weight = "x"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    (void)state;
    assert_int_equal(
        read_graph(FORMAT_EDGES, &options, "u,v,w,x\n1,2,3,4\n", 16, 100, &graph, &problem),
        STATUS_OK);
    assert_true(graph_weight(graph, 0) == 4);
    graph_destroy(graph);
    options.weight[0] = 'y';
    assert_int_equal(
        read_graph(FORMAT_EDGES, &options, "u,v,w,x\n1,2,3,4\n", 16, 100, &graph, &problem),
        STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.hint, "u, v, w, x"));
}

static void vertex_count_makes_names_numbers(void **state)
{
    struct graph_options options = {.has_vertex_count = true, .vertex_count = 5};
    struct problem problem = {0};
    struct graph *graph = NULL;

    (void)state;
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "3 1\n", 4, 100, &graph, NULL), STATUS_OK);
    assert_int_equal(graph->vertex_count, 5);
    graph_destroy(graph);
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "1 2\n5 1\n", 8, 1, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_int_equal(problem.line, 2);
}

/* Lines that are read in one go and those that are not must agree. */
static void lines_are_read_however_they_are_written(void **state)
{
    struct graph *plain = read_text("7,12,5\n12,300,2.5\n300,7,1000000000\n7,300,-3\n");
    struct graph *other =
        read_text("\"7\", 12,5\n12 ,300,2.5\r\n300,7, 1000000000\n7,300,\"-3\"\n");
    struct graph *names;

    (void)state;
    assert_true(same_graph(plain, other));
    graph_destroy(plain);
    graph_destroy(other);
    /* 07 is not 7, however many numbers came before. */
    names = read_text("7,8\n8,07\n");
    assert_int_equal(names->vertex_count, 3);
    assert_false(vertex_names_numeric(names->names));
    graph_destroy(names);
    names = read_text("5000000 1\n1 5000000\n5000000 4194304\n");
    assert_int_equal(names->vertex_count, 3);
    assert_int_equal(names->edge_count, 3);
    graph_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_gives_the_same_graph),
        cmocka_unit_test(headers_and_columns_are_found),
        cmocka_unit_test(weight_is_chosen_by_name_or_number),
        cmocka_unit_test(vertex_count_makes_names_numbers),
        cmocka_unit_test(lines_are_read_however_they_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
