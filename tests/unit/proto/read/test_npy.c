#include "tests/lib/reader_fixture.h"

#include <math.h>

struct array {
    const char *descr;
    bool fortran;
    unsigned n;
    int version;
};

static void append_head(struct text *text, struct array array)
{
    static const char magic[] = "\x93NUMPY";
    struct text dictionary = {0};
    unsigned char length[4] = {0};

    text_printf(&dictionary, "{'descr': '%s', 'fortran_order': %s, 'shape': (%u, %u), }\n",
                array.descr, array.fortran ? "True" : "False", array.n, array.n);
    length[0] = (unsigned char)dictionary.size;
    text_append(text, magic, 6);
    text_append_char(text, (char)array.version);
    text_append_char(text, '\0');
    text_append(text, length, array.version == 1 ? 2 : 4);
    text_append(text, dictionary.bytes, dictionary.size);
    text_finish(&dictionary);
}

static void generate(uint64_t seed, struct text *text)
{
    static const char *const types[] = {"<f4", "<f8", "<i4", "<i8", "<u2", "<u4"};
    unsigned type = (unsigned)fixture_next(&seed) % 6;
    struct array array = {types[type], fixture_next(&seed) % 2 == 0,
                          (unsigned)fixture_next(&seed) % 7, 1 + (int)(fixture_next(&seed) % 3)};

    append_head(text, array);
    for (unsigned i = 0; i < array.n * array.n; i++) {
        int value = (int)(fixture_next(&seed) % 1000);
        float f4 = i % 3 == 0 ? INFINITY : (float)value / 4;
        double f8 = i % 3 == 0 ? (double)NAN : value / 8.0;
        int64_t i8 = i % 3 == 0 ? INT64_MAX : value;

        if (type == 0) {
            text_append(text, &f4, 4);
        } else if (type == 1) {
            text_append(text, &f8, 8);
        } else if (type == 3) {
            text_append(text, &i8, 8);
        } else {
            text_append(text, &value, type == 4 ? 2 : 4);
        }
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_NPY, generate);
}

static enum status read_array(struct array array, const void *items, size_t size,
                              const struct graph_options *options, struct graph **ret_graph,
                              struct problem *reterr)
{
    struct text text = {0};
    enum status status;

    append_head(&text, array);
    text_append(&text, items, size);
    status = read_graph(FORMAT_NPY, options, text.bytes, text.size, 5, ret_graph, reterr);
    text_finish(&text);
    return status;
}

/* Reads a 2 x 2 matrix, and compares its edges (without loops) with a text such as "01=5 10=6". */
static void check_edges(const char *descr, bool fortran, const void *items, size_t size,
                        const char *expected)
{
    struct graph_options options = {0};
    struct graph *graph = NULL;
    char found[64] = "";

    assert_int_equal(
        read_array((struct array){descr, fortran, 2, 1}, items, size, &options, &graph, NULL),
        STATUS_OK);
    for (uint32_t v = 0; v < 2; v++) {
        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            snprintf(found + strlen(found), sizeof found - strlen(found), "%u%u=%g ", v,
                     graph->target[edge], graph_weight(graph, edge));
        }
    }
    assert_string_equal(found, expected);
    assert_true(graph->directed);
    graph_destroy(graph);
}

TEST(each_element_type_has_a_value_that_means_no_edge)
{
    static const float f4[] = {0, 0.5f, INFINITY, 0};
    static const double f8[] = {0, (double)NAN, 0, 0};
    static const int32_t i4[] = {0, 1073741823, -7, 0};
    static const int64_t i8[] = {0, INT64_MAX, 1073741823, 0};
    static const uint16_t u2[] = {0, 65535, 65534, 0};
    static const uint32_t u4[] = {0, 4294967295u, 4294967294u, 0};

    check_edges("<f4", false, f4, sizeof f4, "01=0.5 ");
    check_edges("<f8", false, f8, sizeof f8, "10=0 ");
    check_edges("<i4", false, i4, sizeof i4, "10=-7 ");
    check_edges("<i8", false, i8, sizeof i8, "10=1.07374e+09 ");
    check_edges("<u2", false, u2, sizeof u2, "10=65534 ");
    check_edges("<u4", false, u4, sizeof u4, "10=4.29497e+09 ");
}

TEST(arrays_in_c_and_fortran_order_are_read)
{
    static const int32_t i4[] = {0, 5, 6, 0};

    check_edges("<i4", false, i4, sizeof i4, "01=5 10=6 ");
    check_edges("<i4", true, i4, sizeof i4, "01=6 10=5 ");
}

TEST(parameters_take_effect_or_are_refused)
{
    static const int32_t i4[] = {0, 5, 6, 0};
    struct array array = {"<i4", false, 2, 2};
    struct graph_options options = {.weight = "x"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_array(array, i4, sizeof i4, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.has_vertex_count = true, .vertex_count = 3};
    assert_int_equal(read_array(array, i4, sizeof i4, &options, &graph, &problem),
                     STATUS_BAD_PARAMETER);
    options = (struct graph_options){.vertex_limit = 1};
    assert_int_equal(read_array(array, i4, 0, &options, &graph, &problem), STATUS_TOO_LARGE);
    options = (struct graph_options){.has_directed = true};
    assert_int_equal(read_array(array, i4, sizeof i4, &options, &graph, &problem), STATUS_OK);
    assert_int_equal(graph->edge_count, 1);
    assert_true(graph_weight(graph, 0) == 5);
    graph_destroy(graph);
}

TEST(a_matrix_that_is_not_square_is_refused)
{
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    struct graph_options options = {0};
    struct problem problem = {0};
    struct graph *graph = NULL;
    struct text text = {0};

    text_append(&text, "\x93NUMPY\1\0", 8);
    text_append(&text, (char[]){(char)strlen(dictionary), 0}, 2);
    text_append_string(&text, dictionary);
    assert_int_equal(read_graph(FORMAT_NPY, &options, text.bytes, text.size, 5, &graph, &problem),
                     STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "3 rows and 4 columns"));
    text_finish(&text);
}
