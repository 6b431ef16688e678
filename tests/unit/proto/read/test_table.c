#include "proto/read/table.h"

#include "proto/read/sniff.h"
#include "tests/lib/reader_fixture.h"

static void generate(uint64_t seed, struct text *text)
{
    static const char *const cells[] = {"0", "7", "2.5", "", "inf", "nan", "-", "1e2", "-3"};
    const char delimiter = ",;\t"[fixture_next(&seed) % 3];
    const unsigned n = 1 + (unsigned)fixture_next(&seed) % 9;
    const bool has_header = fixture_next(&seed) % 2 == 0 && n > 1;

    for (unsigned i = 0; has_header && i < n; i++) {
        text_printf(text, "%c\"v,%u\"%s", delimiter, i, i + 1 < n ? "" : "\r\n");
    }
    for (unsigned i = 0; i < n; i++) {
        if (has_header) {
            text_printf(text, "\"v,%u\"%c", i, delimiter);
        }
        for (unsigned j = 0; j < n; j++) {
            text_printf(text, "%s%c", i == j ? "0" : cells[fixture_next(&seed) % 9],
                        j + 1 < n ? delimiter : '\n');
        }
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_MATRIX, generate);
}

static struct graph *read_noted(const char *text, struct reader_notes *ret_notes)
{
    const struct graph_options options = {.format_guessed = true};
    struct problem problem = {0};
    struct reader *reader = NULL;
    struct graph *graph = NULL;

    assert_int_equal(reader_create(FORMAT_MATRIX, &options, &reader), STATUS_OK);
    if (reader_feed(reader, text, strlen(text), &problem) != STATUS_OK ||
        reader_finish(reader, &graph, &problem) != STATUS_OK) {
        fail_msg("%s: %s", text, problem.detail);
    }
    *ret_notes = reader->notes;
    reader_destroy(reader);
    return graph;
}

static void check_edges(const char *text, const char *wanted)
{
    struct reader_notes notes;
    struct graph *graph = read_noted(text, &notes);
    char edges[512] = "";
    size_t size = 0;

    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        char buffers[2][VERTEX_NAME_BUFFER];
        size_t sizes[2];
        const char *source = vertex_names_get(graph->names, row, buffers[0], &sizes[0]);

        for (uint64_t e = graph->row_offset[row]; e < graph->row_offset[row + 1]; e++) {
            const char *target =
                vertex_names_get(graph->names, graph->target[e], buffers[1], &sizes[1]);

            size +=
                (size_t)snprintf(edges + size, sizeof edges - size, "%.*s>%.*s:%g ", (int)sizes[0],
                                 source, (int)sizes[1], target, graph_weight(graph, e));
        }
    }
    if (strcmp(edges, wanted) != 0 || !graph->directed || graph->summary.loops_dropped != 0 ||
        notes.warnings.count != 1) {
        fail_msg("%s: %s", text, edges);
    }
    graph_destroy(graph);
}

TEST(tables_with_any_delimiter_header_and_missing_value_are_read)
{
    static const char wanted[] = "0>1:5 1>0:5 1>2:2.5 ";

    check_edges("0,5,\n5,0,2.5\n,,0\n", wanted);
    check_edges("# numpy\n0.000000000000000000e+00 5.000000000000000000e+00 inf\n"
                "5.000000000000000000e+00 0.000000000000000000e+00 2.500000000000000000e+00\n"
                "nan +inf 0.000000000000000000e+00\n",
                wanted);
    check_edges("  0 5 -\n\n  5 0 2.5\n  - - 0\n", wanted);
    check_edges("0\t5\t\n5\t0\t2.5\n\t\t\n", wanted);
    check_edges("0;5;NA\n5;0;2.5\nNA;NA;0", wanted);
    check_edges("0;5;null\n5;0;2.5\nNone;NULL;0", wanted);
    check_edges(",0,1,2\n0,,5,\n1,5,,2.5\n2,,,\n", wanted);
    check_edges("\"0\" \"1\" \"2\"\n\"0\" 0 5 NA\n\"1\" 5 0 2.5\n\"2\" NA NA 0\n", wanted);
    check_edges(",a,b\na,0,1\nb,2,0\n", "a>b:1 b>a:2 ");
    check_edges("a,b\n0,1\n2,0\n", "a>b:1 b>a:2 ");
    check_edges("a 0 1\nb 2 0\n", "a>b:1 b>a:2 ");
    check_edges("0\n", "");
}

TEST(a_first_line_that_may_be_a_row_or_a_header_is_refused)
{
    static const char *const tables[] = {",5,3\n5,,2\n3,2,\n", ",0.5\n0.5,\n",
                                         ";2.5;9\n2.5;-;7\n9;7;\n"};
    const struct graph_options options = {0};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct problem problem = {0};
        struct graph *graph = NULL;

        assert_int_equal(
            read_graph(FORMAT_MATRIX, &options, tables[i], strlen(tables[i]), 3, &graph, &problem),
            STATUS_BAD_GRAPH);
        assert_int_equal(problem.line, 1);
        assert_non_null(strstr(problem.hint, "a word if the line is a header"));
    }
    assert_int_equal(sniff_format(tables[0], strlen(tables[0])), FORMAT_MATRIX);
    check_edges("0,5,3\n5,,2\n3,2,\n", "0>1:5 0>2:3 1>0:5 1>2:2 2>0:3 2>1:2 ");
    check_edges("id,5,3\n5,,2\n3,2,\n", "5>3:2 3>5:2 ");
    check_edges(",5,3\n5,0,2\n3,2,0\n", "5>3:2 3>5:2 ");
    check_edges(",5,3\n7,,2\n3,2,\n", "0>1:5 0>2:3 1>0:7 1>2:2 2>0:3 2>1:2 ");
}

TEST(zeros_are_edges_if_missing_edges_have_a_different_mark)
{
    struct reader_notes notes;
    struct graph *graph = read_noted("0 3 0\n0 0 1\n0 0 0\n", &notes);

    assert_int_equal(graph->edge_count, 2);
    assert_non_null(strstr(notes.warnings.list[0].detail, "the 4 zeros off its diagonal"));
    assert_non_null(strstr(notes.warnings.list[0].hint, "upload an .npy file"));
    graph_destroy(graph);
    check_edges("0,0,\n0,0,7\n,,0\n", "0>1:0 1>0:0 1>2:7 ");
    /* The mark "-" occurs only on the diagonal, so zeros elsewhere are still missing edges. */
    graph = read_noted("- 3 0\n0 - 1\n0 0 -\n", &notes);
    assert_int_equal(graph->edge_count, 2);
    graph_destroy(graph);
}

TEST(lists_and_tables_are_distinguished)
{
    static const char *const tables[] = {
        "0 5 3.5\n5.5 0 2\n3 2 0\n",
        "0,5,3,\n5,0,2,\n3,2,0,\n",
        "+0\n",
        "+0,5\n5,0\n",
        ",a\na,0\n",
        "0,\n,0\n",
        "0,5,\n5,0,2\n,2,0\n",
        "0 1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n",
        "0.5 1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n",
        ",1,2\n1,0,5\n2,5,0\n",
        "a b c\na 0 5 1\nb 5 0 1\nc 1 1 0\n",
    };
    static const char *const lists[] = {
        "1 2 5\n2 3 4\n3 1 2\n",
        "1 2 3 4\n2 3 4 5\n",
        "1 2 3 4\n2 3 4 5\n3 1 7 7\n4 1 5 5\n",
        "5 2\n1 3 7\n2 4 1\n",
        "source,target,weight\n0,1,2\n1,0,3\n2,3,0\n",
        "a b\nb 5\n",
        "a 0 5\nb 5 0\n",
        "0.0e+0 1.0e+0\n1e+0 0e+0\n",
        "a,b,km\n1,2,3\n4,5,6\n7,8,9\n",
        "# Directed graph\n1\t2\n3\t4\n",
        "1,2\n",
    };
    struct text wide = {0};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (sniff_format(tables[i], strlen(tables[i])) != FORMAT_MATRIX) {
            fail_msg("%s", tables[i]);
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (sniff_format(lists[i], strlen(lists[i])) != FORMAT_EDGES) {
            fail_msg("%s", lists[i]);
        }
    }
    for (unsigned i = 0; wide.size < READER_SNIFF_SIZE; i++) {
        text_printf(&wide, "%u.25%s", i, i % 50 == 49 ? "\n" : " ");
    }
    assert_int_equal(sniff_format(wide.bytes, wide.size), FORMAT_MATRIX);
    for (size_t i = 0; i < wide.size; i++) {
        wide.bytes[i] = wide.bytes[i] == '\n' ? ' ' : wide.bytes[i];
    }
    assert_int_equal(sniff_format(wide.bytes, wide.size), FORMAT_MATRIX);
    text_finish(&wide);
}

TEST(a_small_table_is_reported_as_ambiguous)
{
    assert_int_equal(table_sniff("0 5 3\n5 0 2\n3 2 0\n", 18), TABLE_UNCLEAR);
    assert_int_equal(table_sniff("0,1\n1,0\n", 8), TABLE_UNCLEAR);
    assert_int_equal(table_sniff("1,2\n2,3\n", 8), TABLE_NO);
}

TEST(a_table_row_may_be_longer_than_a_line_of_edges)
{
    const struct graph_options options = {0};
    struct problem problem = {0};
    struct text text = {0};
    struct graph *graph = NULL;

    while (text.size <= READER_LINE_LIMIT) {
        text_append_string(&text, "12345678,");
    }
    assert_int_equal(
        read_graph(FORMAT_MATRIX, &options, text.bytes, text.size, 4096, &graph, &problem),
        STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "fewer than 7283 lines"));
    text_finish(&text);
}

TEST(the_memory_charge_includes_an_unfinished_row)
{
    static const char cells[] = "12345678,12345678,12345678,12345678,12345678,12345678,12345678,";
    const struct graph_options options = {0};
    struct reader *reader = NULL;
    size_t size = 0;

    assert_int_equal(reader_create(FORMAT_MATRIX, &options, &reader), STATUS_OK);
    for (; size < (size_t)12 << 20; size += sizeof cells - 1) {
        assert_int_equal(reader_feed(reader, cells, sizeof cells - 1, NULL), STATUS_OK);
    }
    /* The memory charge includes the edge list into which the reader may convert the table. */
    assert_in_range(reader_memory(reader), size + size / 2 * 40,
                    size / 2 * 40 + ((size_t)16 << 20) + 4096);
    reader_destroy(reader);
}
