#include "tests/lib/reader_fixture.h"

static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric"};

static void generate_coordinate(uint64_t *seed, struct text *text)
{
    unsigned n = 2 + (unsigned)fixture_next(seed) % 30;
    unsigned m = (unsigned)fixture_next(seed) % 60;
    unsigned field = (unsigned)fixture_next(seed) % 3;
    unsigned symmetry = (unsigned)fixture_next(seed) % (field == 2 ? 2 : 3);

    text_printf(text, "%%%%MatrixMarket matrix coordinate %s %s\r\n%% a comment\n\n%u %u %u\n",
                field == 0   ? "real"
                : field == 1 ? "integer"
                             : "pattern",
                symmetries[symmetry], n, n, m);
    for (unsigned i = 0; i < m; i++) {
        unsigned row = 2 + (unsigned)fixture_next(seed) % (n - 1);

        text_printf(text, "%u %u", row, 1 + (unsigned)fixture_next(seed) % (row - 1));
        if (field < 2) {
            text_printf(text, " %d%s", (int)(fixture_next(seed) % 200) - 20,
                        field == 0 ? ".5" : "");
        }
        text_append_string(text, i % 7 == 0 ? " \n%\n" : "\n");
    }
}

static void generate_array(uint64_t *seed, struct text *text)
{
    unsigned n = (unsigned)fixture_next(seed) % 8;
    unsigned symmetry = (unsigned)fixture_next(seed) % 3;
    unsigned count = symmetry == 0 ? n * n : symmetry == 1 ? n * (n + 1) / 2 : n * (n - 1) / 2;

    text_printf(text, "%%%%MatrixMarket MATRIX Array Real %s\n%u %u\n", symmetries[symmetry], n, n);
    for (unsigned i = 0; i < (n == 0 ? 0 : count); i++) {
        if (fixture_next(seed) % 6 == 0) {
            text_append_string(text, "inf\n");
        } else {
            text_printf(text, "%u.25\n", (unsigned)fixture_next(seed) % 90);
        }
    }
}

static void generate(uint64_t seed, struct text *text)
{
    if (fixture_next(&seed) % 3 == 0) {
        generate_array(&seed, text);
    } else {
        generate_coordinate(&seed, text);
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_MTX, generate);
}

/* Compares the edges with the text `expected`, which has "u>v=w" for each edge, with rows counted
 * from 0. */
static void check_edges(struct graph *graph, bool directed, const char *expected)
{
    struct text text = {0};

    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            text_printf(&text, "%s%u>%u=%g", text.size > 0 ? " " : "", v, graph->target[edge],
                        graph_weight(graph, edge));
        }
    }
    assert_int_equal(graph->directed, directed);
    assert_string_equal(text.bytes, expected);
    text_finish(&text);
    graph_destroy(graph);
}

#define COORDINATE "%%MatrixMarket matrix coordinate "
#define ARRAY "%%MatrixMarket matrix array "

TEST(entry_indexes_start_at_one_and_entries_may_be_zero)
{
    check_edges(read_text(FORMAT_MTX, COORDINATE "integer general\n3 3 3\n1 2 0\n3 1 7\n1 2 4\n"),
                true, "0>1=0 2>0=7");
    check_edges(read_text(FORMAT_MTX, COORDINATE "real general\n2 2 1\n2 1 2.5e-1\n"), true,
                "1>0=0.25");
    check_edges(read_text(FORMAT_MTX, COORDINATE "pattern general\n2 2 1\n2\t 1\n"), true, "1>0=1");
}

TEST(symmetric_matrices_are_undirected)
{
    check_edges(read_text(FORMAT_MTX, COORDINATE "pattern symmetric\n3 3 2\n2 1\n3 3\n"), false,
                "0>1=1");
    check_edges(read_text(FORMAT_MTX, COORDINATE "integer skew-symmetric\n2 2 1\n2 1 5\n"), true,
                "0>1=-5 1>0=5");
    check_edges(read_text(FORMAT_MTX, COORDINATE "integer skew-symmetric\n2 2 1\n2 1 -5\n"), true,
                "0>1=5 1>0=-5");
}

TEST(an_array_is_read_column_by_column)
{
    check_edges(read_text(FORMAT_MTX, ARRAY "integer general\n2 2\n0 3\n4 0\n"), true,
                "0>1=4 1>0=3");
    check_edges(read_text(FORMAT_MTX, ARRAY "real symmetric\n3 3\n0\n1\n0\n0\ninf\n0\n"), false,
                "0>1=1 0>2=0");
    check_edges(read_text(FORMAT_MTX, ARRAY "real skew-symmetric\n3 3\n1\nNaN\n2\n"), true,
                "0>1=-1 1>0=1 1>2=-2 2>1=2");
}

TEST(parameters_take_effect_or_are_refused)
{
    struct graph_options options = {.has_directed = true, .directed = true};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_MTX, COORDINATE "integer symmetric\n2 2 1\n2 1 5\n",
                                    &options, &graph, &problem),
                     STATUS_OK);
    check_edges(graph, true, "0>1=5 1>0=5");
    options.directed = false;
    assert_int_equal(read_text_with(FORMAT_MTX, COORDINATE "integer skew-symmetric\n2 2 1\n2 1 5\n",
                                    &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.weight = "x"};
    assert_int_equal(
        read_text_with(FORMAT_MTX, COORDINATE "real general\n", &options, &graph, &problem),
        STATUS_BAD_PARAMETER);
    options = (struct graph_options){.has_vertex_count = true, .vertex_count = 3};
    assert_int_equal(
        read_text_with(FORMAT_MTX, COORDINATE "real general\n2 2 0\n", &options, &graph, &problem),
        STATUS_BAD_PARAMETER);
    options = (struct graph_options){.vertex_limit = 5};
    assert_int_equal(
        read_text_with(FORMAT_MTX, ARRAY "real general\n6 6\n", &options, &graph, &problem),
        STATUS_TOO_LARGE);
}

TEST(the_variant_of_the_file_is_noted_in_lower_case)
{
    static const char text[] = COORDINATE "Pattern Symmetric\n2 2 0\n";
    struct graph_options options = {0};
    struct graph *graph = NULL;
    struct reader *reader;

    assert_int_equal(reader_create(FORMAT_MTX, &options, &reader), STATUS_OK);
    assert_int_equal(reader_feed(reader, text, sizeof text - 1, NULL), STATUS_OK);
    assert_int_equal(reader_finish(reader, &graph, NULL), STATUS_OK);
    assert_string_equal(reader->notes.variant, "coordinate pattern symmetric");
    assert_string_equal(reader->notes.weight, "");
    assert_true(reader->notes.says_direction);
    graph_destroy(graph);
    reader_destroy(reader);
}
