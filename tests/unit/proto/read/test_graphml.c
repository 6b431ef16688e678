#include "proto/text.h"
#include "tests/lib/reader_fixture.h"

#define HEAD                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                 \
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
#define KEY "<key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"
#define NODES "<node id=\"a\"/><node id=\"b\"/><node id=\"c\"/>"

static void generate(uint64_t seed, struct text *text)
{
    unsigned n = 1 + (unsigned)fixture_next(&seed) % 12;
    unsigned m = (unsigned)fixture_next(&seed) % 16;
    bool directed = fixture_next(&seed) % 2 == 0;

    text_append_string(text, HEAD KEY "<!-- a comment -->");
    text_printf(text, "<graph edgedefault=\"%s\">\n", directed ? "directed" : "undirected");
    for (unsigned i = 0; i < m; i++) {
        text_printf(text, "<edge source='n%u' target='n%u'%s>", (unsigned)fixture_next(&seed) % n,
                    (unsigned)fixture_next(&seed) % n, i % 5 == 0 ? " directed='false'" : "");
        text_printf(text, "<data key=\"d0\"> %u&#46;5</data>", (unsigned)fixture_next(&seed) % 90);
        text_append_string(text, "<data key='x'><edge/></data></edge>\n");
    }
    for (unsigned i = 0; i < n; i++) {
        text_printf(text, "<node id=\"n%u\"/>", i);
    }
    text_append_string(text, "</graph></graphml>\n");
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_GRAPHML, generate);
}

static void check_first(const char *text, bool directed, uint64_t edges, double weight)
{
    struct graph *graph = read_text(FORMAT_GRAPHML, text);

    assert_int_equal(graph->directed, directed);
    assert_int_equal(graph->edge_count, edges);
    assert_true(graph_weight(graph, 0) == weight);
    graph_destroy(graph);
}

TEST(a_missing_weight_defaults_to_the_attribute_default_or_1)
{
    check_first(HEAD KEY "<graph edgedefault='undirected'>" NODES
                         "<edge source='a' target='b'><data key='d0'>\n 7 </data></edge>"
                         "</graph></graphml>",
                false, 1, 7);
    check_first(HEAD "<key id='d0' attr.name='weight'><default>2.5</default></key>"
                     "<key id='d1' attr.name='other'><default>9</default></key>"
                     "<graph edgedefault='directed'>" NODES "<edge source='a' target='b'/>"
                     "</graph></graphml>",
                true, 1, 2.5);
    check_first(HEAD
                "<key id='d0' for='node' attr.name='weight'/><graph edgedefault='directed'>" NODES
                "<edge source='a' target='b'><data key='d0'>a</data></edge></graph></graphml>",
                true, 1, 1);
    check_first("<graphml><key id='weight' for='all'/><graph>" NODES
                "<edge source='a' target='b'><data key='weight'>5</data></edge></graph></graphml>",
                true, 1, 5);
}

TEST(an_edge_may_override_the_default_direction)
{
    static const char mixed[] = "<graphml><graph edgedefault='directed'>" NODES
                                "<edge source='a' target='b' directed='false'/>"
                                "<edge source='b' target='c' directed='true'/></graph></graphml>";
    struct graph_options options = {.has_directed = true};
    struct graph *graph = NULL;

    check_first(mixed, true, 3, 1);
    assert_int_equal(read_text_with(FORMAT_GRAPHML, mixed, &options, &graph, NULL), STATUS_OK);
    assert_false(graph->directed);
    assert_int_equal(graph->edge_count, 2);
    graph_destroy(graph);
}

TEST(vertices_keep_the_order_of_the_node_elements)
{
    struct graph *graph =
        read_text(FORMAT_GRAPHML, "<graphml><graph><edge source='7' target='3'/>"
                                  "<node id='3'/><node id='7'/></graph></graphml>");
    uint32_t row = 9;

    assert_true(vertex_names_numeric(graph->names));
    assert_true(vertex_names_find(graph->names, "7", 1, &row));
    assert_int_equal(row, 1);
    graph_destroy(graph);
    graph = read_text(FORMAT_GRAPHML, "<?xml version='1.0' encoding='ISO-8859-1'?><graphml><graph>"
                                      "<node id='\xE9&amp;'/></graph></graphml>");
    assert_true(vertex_names_find(graph->names, "\xC3\xA9&", 3, &row));
    graph_destroy(graph);
}

/* The number of keys is limited, because the reader searches all declared keys for each
 * attribute. */
TEST(more_keys_than_the_limit_are_refused)
{
    struct text text = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;

    text_append_string(&text, HEAD);
    for (int i = 0; i < 1000; i++) {
        text_printf(&text, "<key id='a%d' for='edge' attr.name='a%d'/>", i, i);
    }
    text_append_string(&text, "<graph edgedefault='directed'>" NODES "</graph></graphml>");
    text_append(&text, "", 1);
    assert_int_equal(text_status(&text), STATUS_OK);
    assert_int_equal(
        read_text_with(FORMAT_GRAPHML, text.bytes, &(struct graph_options){0}, &graph, &problem),
        STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "more than 256"));
    text_finish(&text);
}

TEST(the_weight_parameter_selects_the_attribute)
{
    static const char text[] =
        HEAD KEY "<key id='d1' for='edge' attr.name='km'/><graph edgedefault='directed'>" NODES
                 "<edge source='a' target='b'><data key='d0'>7</data><data key='d1'>3</data></edge>"
                 "</graph></graphml>";
    struct graph_options options = {.weight = "km"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, &problem), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 3);
    graph_destroy(graph);
    memcpy(options.weight, "mi", sizeof "mi");
    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.hint, "weight, km"));
    options = (struct graph_options){.has_vertex_count = true, .vertex_count = 2};
    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.vertex_limit = 2};
    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, &problem),
                     STATUS_TOO_LARGE);
}

/* Reads an edge with these <key> and <data> elements, and checks its weight or the error's hint. */
static void check_edge(const char *keys, const char *data, double weight, const char *hint)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    char text[900];

    snprintf(text, sizeof text,
             "<graphml>%s<graph><node id='a'/><node id='b'/><edge source='a' target='b'>%s</edge>"
             "</graph></graphml>",
             keys, data);
    if (hint != NULL) {
        assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, &problem),
                         STATUS_BAD_GRAPH);
        assert_non_null(strstr(problem.hint, hint));
        assert_true(problem.column > 60);
        return;
    }
    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, NULL), STATUS_OK);
    assert_true(graph_weight(graph, 0) == weight);
    graph_destroy(graph);
}

TEST(the_weight_attribute_is_recognized_by_its_name)
{
    static const char keys[] =
        "<key id='d0' for='edge' attr.name='osmid'/>"
        "<key id='d1' for='edge' attr.name='length' attr.type='string'/>"
        "<key id='d2' for='edge' attr.name='cost'><default>4</default></key>";
    static const char others[] = "<key id='d0' for='edge' attr.name='SUID'/>"
                                 "<key id='d1' for='edge' attr.name='km'/>"
                                 "<key id='d2' for='edge'/>";

    check_edge(keys, "<data key='d2'>3</data><data key='d1'>7.5</data>", 3, "weight=length");
    /* NetworkX declares an attribute twice, with two types, if only some values are integers. */
    check_edge("<key id='d1' for='edge' attr.name='weight' attr.type='double'/>"
               "<key id='d0' for='edge' attr.name='weight' attr.type='long'/>",
               "<data key='d0'>7</data>", 7, NULL);
    check_edge("<key id='d1' for='edge' attr.name='cost'><default>4</default></key>", "", 4, NULL);
    check_edge(others, "<data key='d0'>9</data><data key='d1'>x</data>", 1, NULL);
    check_edge(others, "<data key='d1'> 7.5\n</data>", 0, "weight=km");
    check_edge(others, "<data key='weight'>7</data>", 7, NULL);
}

TEST(all_attributes_are_ignored_if_weight_is_none)
{
    static const char text[] =
        HEAD "<key id='d0' for='edge' attr.name='weight'><default>4</default></key>"
             "<key id='d1' for='edge' attr.name='none'/><graph edgedefault='directed'>" NODES
             "<edge source='a' target='b' weight='3'><data key='d0'>x</data><data key='d1'>3</data>"
             "</edge></graph></graphml>";
    struct graph_options options = {.weight = "none"};
    struct graph *graph = NULL;

    assert_int_equal(read_text_with(FORMAT_GRAPHML, text, &options, &graph, NULL), STATUS_OK);
    assert_true(graph_weight(graph, 0) == 1);
    graph_destroy(graph);
    check_edge("<key id='d0' for='edge' attr.name='km'/>", "<data key='d0'>7</data>", 0,
               "weight=none");
}

/* The size of a tag is limited, because the reader stores a tag until it ends. */
TEST(an_unfinished_tag_longer_than_the_limit_is_refused)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    struct text text = {0};

    text_append_string(&text, HEAD "<graph><!-- ");
    for (int i = 0; i < 20000; i++) {
        text_append_string(&text, "<comment ");
    }
    text_append_string(&text, "--></graph></graphml>");
    assert_int_equal(text_status(&text), STATUS_OK);
    assert_int_equal(read_text_with(FORMAT_GRAPHML, text.bytes, &options, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "longer than 65536"));
    text_finish(&text);
}
