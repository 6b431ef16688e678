#include "tests/lib/reader_fixture.h"

static void generate(uint64_t seed, struct text *text)
{
    unsigned n = 1 + (unsigned)fixture_next(&seed) % 30;
    unsigned m = (unsigned)fixture_next(&seed) % 60;

    text_printf(text, "c %u\r\np sp %u %u\n\n", n, n, m);
    for (unsigned i = 0; i < m; i++) {
        text_printf(text, "a %u\t%u  %d%s\n", 1 + (unsigned)fixture_next(&seed) % n,
                    1 + (unsigned)fixture_next(&seed) % n, (int)(fixture_next(&seed) % 2000) - 100,
                    fixture_next(&seed) % 5 == 0 ? ".25" : "");
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_DIMACS, generate);
}

TEST(empty_graphs_are_accepted)
{
    struct graph *graph = read_text(FORMAT_DIMACS, "\xEF\xBB\xBFp sp 0 0");

    assert_int_equal(graph->vertex_count, 0);
    graph_destroy(graph);
}

/* The fast path for plain lines and the general path must read the same graph. */
TEST(arc_lines_may_have_any_whitespace_and_number_format)
{
    struct graph *plain =
        read_text(FORMAT_DIMACS, "p sp 12 3\na 1 12 999999999\na 2 3 0\na 12 1 5\n");
    struct graph *other = read_text(FORMAT_DIMACS, "p sp 12 3\na  1\t12 +999999999 \r\n a 2 3 -0\n"
                                                   "a 0000000012 1 5.0\n");

    assert_true(same_graph(plain, other));
    assert_int_equal(plain->weight_i4[0], 999999999);
    assert_int_equal(plain->target[0], 11);
    graph_destroy(plain);
    graph_destroy(other);
    plain = read_text(FORMAT_DIMACS, "p sp 2 1\na 1 2 4294967297\n");
    assert_true(graph_weight(plain, 0) == 4294967297.0);
    graph_destroy(plain);
}

TEST(a_weight_parameter_is_refused)
{
    struct graph_options options = {.weight = "cost"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_DIMACS, &options, "p sp 1 0\n", 9, 100, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "weight=cost"));
}
