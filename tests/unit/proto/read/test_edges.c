#include "tests/lib/reader_fixture.h"

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

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_EDGES, generate);
}

static void check_first(const char *text, uint32_t vertices, const char *first, double weight)
{
    struct graph *graph = read_text(FORMAT_EDGES, text);
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(graph->names, 0, buffer, &size);

    assert_int_equal(graph->vertex_count, vertices);
    assert_int_equal(size, strlen(first));
    assert_memory_equal(name, first, size);
    assert_true(graph_weight(graph, 0) == weight);
    graph_destroy(graph);
}

TEST(a_header_row_is_not_an_edge_and_sets_the_column_order)
{
    check_first("origin,destination,count\nABE,ATL,853\n", 2, "ABE", 853);
    check_first("ABE,ATL,853\n", 2, "ABE", 853);
    check_first("\"station1\",\"station2\",\"line\",\"time\"\r\n11,163,1,4\r\n", 2, "11", 4);
    check_first("a_id,b_id,km\nx,y,2.5\n", 2, "x", 2.5);
    check_first("9 3\n", 2, "3", 1);
    check_first("w,target,source\n5,b,a\n", 2, "a", 5);
    check_first("a;\"b \"\"c\"\"\";2\n", 2, "a", 2);
}

TEST(the_weight_column_is_chosen_by_name_or_number)
{
    struct graph_options options = {.weight = "x"};
    struct problem problem = {0};
    struct graph *graph = NULL;

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
    assert_int_equal(problem.line, 1);
}

/* Reads a graph, and returns the notes (warnings and counts) of the reader. */
static struct graph *read_noted(const char *text, struct reader_notes *ret_notes)
{
    const struct graph_options options = {0};
    struct problem problem = {0};
    struct reader *reader = NULL;
    struct graph *graph = NULL;

    assert_int_equal(reader_create(FORMAT_EDGES, &options, &reader), STATUS_OK);
    if (reader_feed(reader, text, strlen(text), &problem) != STATUS_OK ||
        reader_finish(reader, &graph, &problem) != STATUS_OK) {
        fail_msg("%s: %s", text, problem.detail);
    }
    *ret_notes = reader->notes;
    reader_destroy(reader);
    return graph;
}

static const struct warning *find_warning(const struct reader_notes *notes, enum warning_code code)
{
    for (size_t i = 0; i < notes->warnings.count; i++) {
        if (notes->warnings.list[i].code == code) {
            return &notes->warnings.list[i];
        }
    }
    return NULL;
}

static void check_weight(const char *text, const char *name, double weight, const char *unused,
                         bool guessed)
{
    struct reader_notes notes;
    struct graph *graph = read_noted(text, &notes);
    const struct warning *warning = find_warning(&notes, WARNING_COLUMNS_UNUSED);

    assert_string_equal(notes.weight, name);
    assert_true(graph_weight(graph, 0) == weight);
    assert_int_equal(warning != NULL, unused != NULL);
    if (warning != NULL) {
        assert_non_null(strstr(warning->detail, unused));
        assert_non_null(strstr(warning->hint, "weight="));
    }
    assert_int_equal(find_warning(&notes, WARNING_FORMAT_GUESSED) != NULL, guessed);
    graph_destroy(graph);
}

TEST(weight_columns_are_recognized_by_name_and_unit)
{
    check_weight("source,target,id,weight_km\n1,2,3,4.5\n", "weight_km", 4.5, "graph: id.", false);
    check_weight(":START_ID,kind,:END_ID,weight:float\n1,a,2,7\n", "weight:float", 7, "kind",
                 false);
    check_weight("p:START_ID(P),since,q:END_ID(P),w:int\n1,1999,2,7\n", "w:int", 7, "since", false);
    check_weight("from,to,lanes,Length (m)\n1,2,3,4\n", "Length (m)", 4, "lanes", false);
    check_weight("u,v,key,osmid,travel,time_s\n1,2,0,99,x,4\n", "time_s", 4, "key, osmid, travel",
                 false);
    check_weight("source,target,value\n1,2,4\n", "value", 4, NULL, false);
    check_weight("from,to,km\n1,2,4\n", "km", 4, NULL, true);
    check_weight("a_id,b_id,km\n1,2,4\n", "km", 4, NULL, true);
    check_weight("edge_id,source,target\n9,1,2\n", "", 1, NULL, false);
    check_weight("source,target,note\n1,2,\n1,3,x\n", "", 1, NULL, false);
    check_weight("a b 5\n", "column 3", 5, NULL, false);
    check_weight("% sym\n1 2 5 1999\n", "column 3", 5, "graph: 4.", false);
}

TEST(all_attributes_are_ignored_if_weight_is_none)
{
    static const char *const texts[] = {"from,to,len,none,weight\n1,2,3,4,5\n", "1 2 3 4\n",
                                        "a b {'weight': 5}\n"};
    struct graph_options options = {.weight = "none"};

    for (size_t i = 0; i < 3; i++) {
        struct graph *graph = NULL;

        assert_int_equal(
            read_graph(FORMAT_EDGES, &options, texts[i], strlen(texts[i]), 5, &graph, NULL),
            STATUS_OK);
        assert_true(graph_weight(graph, 0) == 1);
        graph_destroy(graph);
    }
}

static void check_refused(const char *text, uint64_t line, const char *detail, const char *hint)
{
    const struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(
        read_graph(FORMAT_EDGES, &options, text, strlen(text), strlen(text), &graph, &problem),
        STATUS_BAD_GRAPH);
    if ((line > 0 && problem.line != line) || strstr(problem.detail, detail) == NULL ||
        strstr(problem.hint, hint) == NULL) {
        fail_msg("%s: line %d, %s %s", text, (int)problem.line, problem.detail, problem.hint);
    }
}

TEST(ambiguous_weight_columns_are_refused)
{
    check_refused("from,to,len,maxspeed\n1,2,3,4\n", 2, "Numeric columns: len, maxspeed",
                  "weight=len");
    check_refused("from,to,len,maxspeed\n1,2,3,4\n", 2, "Numeric columns: len, maxspeed",
                  "weight=none");
    check_refused("# x\nfrom,to,name,len\n1,2,a,4\n", 3, "Numeric columns: len", "weight=len");
    check_refused("from,to,name,len\n1,2,a,\n1,2,a,4\n", 3, "Numeric columns: len", "weight=");
    check_refused("1 2 3 4\n2 3 4 5\n1 5 6 7\n", 1, "4 columns", "format=matrix");
    check_refused("a 1 2 5\na 2 3 7\n", 1, "4 columns", "p sp N M");
    check_refused("id,a,b,len\n1,2,3,4\n", 1, "recognized names for source", "source_column=");
}

TEST(text_of_other_formats_is_not_read_as_vertex_names)
{
    static const char *const texts[] = {
        "(a, b)\n(b, c)\n",       "a: b\nb: c\n",       "a->b 5\nb->c 7\n",  "a = 5\nb = 7\n",
        "a b, 5\na c, 7.5\n",     "7.5 1 2\n9 2 3\n",   "{a} b 5\n[c b 7\n", "'a','b',5\n",
        "1,2;5\n2,3;7\n",         "1 2,5\n2 3,7\n",     "0 1:5\n1 2:4\n",    "a,b\nb\f,c\n",
        "a b\n\xEF\xBB\xBFg c\n", "a,b\nb\xC2\xA0,c\n",
    };
    static const char *const right[] = {
        "from to cost\n1.5 2.5 1\n", "\"(a\" \"b:\" 5\n",   "(a) [b] 5\n",         "a-b c:d 5\n",
        "10.0.0.1 10.0.0.2 5\n",     "rock'n'roll '68 5\n", "\"'a'\" \"2;5\" 5\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_refused(texts[i], i < 4 ? 1 : 0, "", "a name in quotes");
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct reader_notes notes;

        graph_destroy(read_noted(right[i], &notes));
    }
}

TEST(a_quoted_name_is_kept_unchanged)
{
    struct reader_notes notes;
    struct graph *graph =
        read_noted("source,target,weight\n\"1.0\",\"1\",5\n\"1.00\",\"1\",2\n", &notes);

    assert_int_equal(graph->vertex_count, 3);
    graph_destroy(graph);
}

TEST(integers_may_have_a_decimal_point)
{
    static const char *const texts[] = {
        "0.000e+00 1.0000000e+00 5.0\n1.0000000e+00 100000 2\n",
        "source,target,weight\n0.0,1.0,5.0\n1.0,1e+05,2\n",
    };
    uint32_t row;

    for (size_t i = 0; i < 2; i++) {
        struct reader_notes notes;
        struct graph *graph = read_noted(texts[i], &notes);

        assert_int_equal(graph->vertex_count, 3);
        assert_true(vertex_names_numeric(graph->names));
        assert_true(vertex_names_find(graph->names, "100000", 6, &row));
        graph_destroy(graph);
    }
}

TEST(comments_and_headers_are_distinguished_from_edges)
{
    struct reader_notes notes;

    graph_destroy(read_noted("1 2 5\n# 3 2\n# \n#1 2 3 4\n2 3 5\n", &notes));
    graph_destroy(read_noted("who,whom\na,b\nb,c\nc,a\n", &notes));
    assert_non_null(find_warning(&notes, WARNING_FORMAT_GUESSED));
    graph_destroy(read_noted("who,whom\na,b\nb,whom\nc,a\n", &notes));
    assert_null(find_warning(&notes, WARNING_FORMAT_GUESSED));
}

TEST(a_comment_may_be_the_header)
{
    check_weight("# weight source target\n5 1 2\n", "weight", 5, NULL, false);
    check_weight("# Nodes: 3\n# FromNodeId\tToNodeId\tSign\n1\t2\t-1\n", "Sign", -1, NULL, true);
    check_weight("#source,target,lanes,length\n1,2,7,5\n", "length", 5, "lanes", false);
    check_weight("# source target\n1 2 5\n", "column 3", 5, NULL, false);
    check_weight("# FromNodeId ToNodeId\na b\n", "", 1, NULL, false);
    check_weight("# source target weight\na b {'weight': 5}\n", "weight", 5, NULL, false);
    check_weight("# source,target,weight\nsource,target,weight\n1,2,5\n", "weight", 5, NULL, false);
    check_weight("1 2 1000000000\n2 3 2000000000\n3 1 1000000000\n", "column 3", 1000000000, NULL,
                 false);
    check_refused("# from to len lanes\n1 2 5 6\n", 2, "Numeric columns: len, lanes", "weight=len");
}

TEST(lines_that_are_not_edges_are_refused)
{
    check_refused("1 January\n2 March\n#\n1 2\n", 3, "TGF", "Remove");
    check_refused("\n%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 5\n", 2,
                  "not the first line", "lines above");
    check_refused("1 2 1217567877\n2 3 1217573801\n3 1 1217606247\n", 1, "since 1970", "weight=3");
    check_refused("# temporal\n1 2 1217567877\n2 3 1217573801\n3 1 1217606247\n", 2, "since 1970",
                  "weight=3");
}

TEST(vertex_names_among_numbers_are_reported)
{
    struct reader_notes notes;

    graph_destroy(read_noted("source,target,weight\n1,2,5\n2,3,6\nTotal,6,11\n", &notes));
    assert_non_null(strstr(find_warning(&notes, WARNING_FORMAT_GUESSED)->detail, "'Total'"));
    graph_destroy(read_noted("1 pp 2\n2 pp 3\n", &notes));
    assert_non_null(find_warning(&notes, WARNING_FORMAT_GUESSED));
    graph_destroy(read_noted("a b 5\nb c 7\n", &notes));
    assert_null(find_warning(&notes, WARNING_FORMAT_GUESSED));
}

static void check_direction(const char *text, bool directed, bool said)
{
    struct reader_notes notes;
    struct graph *graph = read_noted(text, &notes);

    if (graph->directed != directed || notes.says_direction != said) {
        fail_msg("%s", text);
    }
    graph_destroy(graph);
}

TEST(a_file_can_declare_its_direction)
{
    check_direction("1 2\n", true, false);
    check_direction("# Undirected graph: x.txt\n1 2\n", false, true);
    check_direction("# Directed graph: x.txt\n1 2\n", true, true);
    check_direction("# Directed graph (each unordered pair of nodes is saved once): x\n1 2\n", true,
                    false);
    check_direction("# undirected by intention\n1 2\n", true, false);
    check_direction("1 2\n# Undirected graph\n", true, false);
    check_direction("% sym weighted\n% 1 2 2\n1 2 5\n", false, true);
    check_direction("% asym unweighted\n1 2\n", true, true);
    check_direction("% sym link\n1 2\n", true, false);
    check_direction("Source,Target,Type,Weight\n1,2,Undirected,3\n2,3,undirected,3\n", false, true);
    check_direction("Source,Target,Type\n1,2,Directed\n", true, true);
    check_direction("Source,Target,Type\n1,2,Road\n3,4,Undirected\n", true, false);
    check_refused("Source,Target,Type\n1,2,Directed\n1,3,Undirected\n", 3, "'Undirected'",
                  "directed=true or directed=false");
    check_refused("% bip weighted\n1 1 5\n", 1, "bipartite", "awk");
}

TEST(the_first_line_may_contain_the_counts)
{
    struct reader_notes notes;
    struct graph *graph = read_noted("5 2\n1 3 7\n3 4 1\n", &notes);
    struct graph_options options = {.has_vertex_count = true, .vertex_count = 5};
    struct problem problem = {0};
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;

    /* The vertex count 5 in the first line adds vertices without edges. */
    assert_int_equal(graph->vertex_count, 5);
    assert_memory_equal(vertex_names_get(graph->names, 0, buffer, &size), "1", 1);
    assert_int_equal(graph->edge_count, 2);
    assert_non_null(strstr(find_warning(&notes, WARNING_FORMAT_GUESSED)->detail, "5 2"));
    graph_destroy(graph);
    graph = read_noted("5 2\n4 2 7\n5 4 1\n", &notes);
    assert_memory_equal(vertex_names_get(graph->names, 4, buffer, &size), "5", 1);
    assert_int_equal(graph->row_offset[3], 0);
    assert_int_equal(graph->target[0], 1);
    assert_int_equal(graph->target[1], 3);
    graph_destroy(graph);
    graph = read_noted("2 1\n0 1 7.5\n", &notes);
    assert_int_equal(graph->vertex_count, 2);
    graph_destroy(graph);
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "5 1\n0 1 7\n", 10, 3, &graph, NULL),
                     STATUS_OK);
    graph_destroy(graph);
    options.vertex_count = 4;
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "5 1\n0 1 7\n", 10, 3, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "declares 5"));
    check_refused("5 3\n1 3 7\n3 4 1\n", 1, "the 2 lines that follow", "a weight");
    check_refused("# c\n3 2\n1 3 7\n3 4 1\n", 2, "the 2 lines that follow", "a weight");
    check_refused("3 2\na b 7\n3 4 1\n", 1, "the 2 lines that follow", "a weight");
    check_refused("5 3\n1 3 x\n", 2, "3 columns", "");
}

TEST(a_first_line_that_may_be_an_edge_or_counts_is_refused)
{
    struct reader_notes notes;
    struct graph *graph;

    check_refused("5 3 1\n1 2 10\n2 5 15\n1 4 40\n", 1, "because 3 edges follow", "add a header");
    check_refused("2 9 1\n1 2 1\n2 1 1\n1 2 2\n2 1 2\n1 2 3\n2 1 3\n1 2 4\n2 1 4\n1 2 5\n", 1,
                  "9 edges follow", "add a header");
    check_refused("3 3 3\n1 2 1\n2 3 1\n3 1 1\n", 1, "3 3, may be an edge", "");
    check_refused("3 2\n1 2\n2 3\n", 1, "2 edges follow", "add a header");
    graph_destroy(read_noted("1,2,-2.4\n0,1,-2.2\n2,0,4.6\n", &notes));
    graph_destroy(read_noted("1,2,0\n0,1,2\n2,0,4\n", &notes));
    check_refused("# c\n5 4\n1 2\n2 3\n3 4\n4 5\n", 2, "4 edges follow",
                  "otherwise remove the line");
    /* The first line is taken as an edge instead of as counts if the list has one edge more or
     * less, if a vertex number exceeds the vertex count, or if there is a header. */
    check_first("5,3,-2.5\n1,2,10\n2,5,15\n1,4,40\n", 5, "1", 10);
    check_first("5 3 1\n1 2 10\n2 5 15\n", 4, "1", 10);
    check_first("5 3 1\n1 2 10\n2 5 15\n1 6 40\n", 5, "1", 10);
    graph = read_text(FORMAT_EDGES, "source target weight\n5 3 1\n1 2 10\n2 5 15\n1 4 40\n");
    assert_int_equal(graph->edge_count, 4);
    graph_destroy(graph);
}

TEST(hints_say_how_to_correct_the_file)
{
    check_refused("\"from\" \"to\" \"weight\"\n\"1\" \"a\" \"b\" 5\n", 2, "4 columns",
                  "row.names=FALSE");
    check_refused("a~b~5\n", 1, "one column", "tabs or spaces");
    check_refused("8\n15\n4 5 0.35\n", 1, "one column", "number of vertices");
}

TEST(lines_of_two_vertices_are_edges_without_weights)
{
    struct reader_notes notes;
    struct graph *graph = read_noted("follower,followee\n1,2\n2,3\n", &notes);

    assert_int_equal(graph->edge_count, 2);
    assert_non_null(find_warning(&notes, WARNING_HEADER_GUESSED));
    graph_destroy(graph);
    check_first("a b\nb c\n", 3, "a", 1);
    check_first("5 2\n2 1\n", 3, "1", 1);
    check_refused("1 \"\"\n2 3\n", 1, "empty", "");
}

TEST(networkx_attribute_dicts_are_read)
{
    struct graph_options options = {.weight = "cost"};
    struct problem problem = {0};
    struct reader_notes notes;
    struct graph *graph =
        read_noted("a b {'weight': 2}\nb c {'weight': 5, 'color': 'dark red'}\n", &notes);

    assert_int_equal(graph->vertex_count, 3);
    assert_true(graph_weight(graph, 0) == 2 && graph_weight(graph, 1) == 5);
    assert_string_equal(notes.weight, "weight");
    graph_destroy(graph);
    graph = read_noted("1,2,{}\n2,1,{ }\n", &notes);
    assert_true(graph_weight(graph, 0) == 1 && vertex_names_numeric(graph->names));
    graph_destroy(graph);
    check_refused("1 2 {}\n1 2 {'a': 5, 'b': 6}\n", 2, "Numeric columns: a, b", "weight=a");
    check_refused("1 2 {}\n1 2 3\n", 2, "3 columns", "");
    check_first("a,{3F}\n{3F},b\n", 3, "a", 1);
    assert_int_equal(
        read_graph(FORMAT_EDGES, &options, "1 2 {}\n2 3 {}\n", 14, 14, &graph, &problem),
        STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "weight=cost names no suitable column"));
}

TEST(the_directed_parameter_overrides_the_type_column)
{
    const struct graph_options options = {.has_directed = true};
    static const char text[] = "Source,Target,Type\n1,2,Directed\n1,3,Undirected\n";
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_EDGES, &options, text, strlen(text), 9, &graph, NULL),
                     STATUS_OK);
    assert_false(graph->directed);
    graph_destroy(graph);
}

TEST(vertex_names_are_row_numbers_if_a_vertex_count_is_given)
{
    struct graph_options options = {.has_vertex_count = true, .vertex_count = 5};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_EDGES, &options, "3 1\n", 4, 100, &graph, NULL), STATUS_OK);
    assert_int_equal(graph->vertex_count, 5);
    graph_destroy(graph);
    assert_int_equal(read_graph(FORMAT_EDGES, &options, "1 2\n5 1\n", 8, 1, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_int_equal(problem.line, 2);
}

/* The fast path for plain lines and the general path must read the same graph. */
TEST(lines_may_have_quotes_and_any_whitespace)
{
    struct graph *plain =
        read_text(FORMAT_EDGES, "7,12,5\n12,300,2.5\n300,7,1000000000\n7,300,-3\n");
    struct graph *other =
        read_text(FORMAT_EDGES, "\"7\", 12,5\n12 ,300,2.5\r\n300,7, 1000000000\n7,300,\"-3\"\n");
    struct graph *names;

    assert_true(same_graph(plain, other));
    graph_destroy(plain);
    graph_destroy(other);
    /* The names 07 and 7 are different vertices, even if all previous names are integers without
     * leading zeros. */
    names = read_text(FORMAT_EDGES, "7,8\n8,07\n");
    assert_int_equal(names->vertex_count, 3);
    assert_false(vertex_names_numeric(names->names));
    graph_destroy(names);
    /* Any mixture of tabs and spaces separates the columns. */
    plain = read_text(FORMAT_EDGES, "7 12 5\n12 300 2.5\n300 7 1\n");
    other = read_text(FORMAT_EDGES, "7\t12\t5\n12 \t300\t2.5\n300\t7 1\n");
    assert_true(same_graph(plain, other));
    graph_destroy(plain);
    graph_destroy(other);
    names = read_text(FORMAT_EDGES, "5000000 1\n1 5000000\n5000000 4194304\n");
    assert_int_equal(names->vertex_count, 3);
    assert_int_equal(names->edge_count, 3);
    graph_destroy(names);
}
