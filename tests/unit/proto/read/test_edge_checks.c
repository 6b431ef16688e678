#include "proto/read/edge_checks.h"
#include "proto/read/reader.h"
#include "tests/lib/test.h"

static struct edge_comments read_comment(const char *line)
{
    struct edge_comments dialect = {0};

    assert_int_equal(edge_comments_parse(&dialect, line, strlen(line), NULL), STATUS_OK);
    return dialect;
}

TEST(comments_determine_the_direction)
{
    struct edge_comments dialect = {0};

    assert_true(read_comment("#Undirected graph").undirected);
    assert_true(read_comment("# Directed Graph: x").says_direction);
    assert_false(read_comment("# Directed graph (each unordered pair)").says_direction);
    assert_false(read_comment("# sym weighted").is_konect);
    assert_true(read_comment("% sym").undirected);
    assert_true(read_comment("% asym multiweighted").says_direction);
    assert_false(read_comment("% asym graph of links").is_konect);
    assert_false(read_comment("%").says_direction);
    assert_int_equal(edge_comments_parse(&dialect, "% bip signed", 12, NULL), STATUS_BAD_GRAPH);
}

TEST(malformed_dicts_are_refused)
{
    static const char *const lines[] = {"{'weight'}", "{'weight': 5", "{5, 6}", "{'a: 5}", "{a:{}"};

    assert_int_equal(edge_dict_find("1 2 {x", 6), 6);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct reader *reader;
        struct columns columns = {0};
        struct edge_record record = {0};

        assert_int_equal(reader_create(FORMAT_EDGES, &(struct graph_options){0}, &reader),
                         STATUS_OK);
        columns_init(&columns, reader);
        assert_int_equal(edge_dict_parse(lines[i], 0, strlen(lines[i]), &columns, &record, NULL),
                         STATUS_BAD_GRAPH);
        reader_destroy(reader);
    }
}
