#include "proto/read/edge_dialects.h"
#include "tests/lib/test.h"

#include <string.h>

static struct edge_dialect read_comment(const char *line)
{
    struct edge_dialect dialect = {0};

    assert_int_equal(edge_dialect_take_comment(&dialect, line, strlen(line), NULL), STATUS_OK);
    return dialect;
}

TEST(comments_say_the_direction)
{
    struct edge_dialect dialect = {0};

    assert_true(read_comment("#Undirected graph").undirected);
    assert_true(read_comment("# Directed Graph: x").says_direction);
    assert_false(read_comment("# Directed graph (each unordered pair)").says_direction);
    assert_false(read_comment("# sym weighted").is_konect);
    assert_true(read_comment("% sym").undirected);
    assert_true(read_comment("% asym multiweighted").says_direction);
    assert_false(read_comment("% asym graph of links").is_konect);
    assert_false(read_comment("%").says_direction);
    assert_int_equal(edge_dialect_take_comment(&dialect, "% bip signed", 12, NULL),
                     STATUS_BAD_GRAPH);
}

/* The weight in a dict, beside a key that is kept from one to the next. */
static void check_weight(const char *line, const char *wanted, char key[EDGE_KEY_SIZE])
{
    struct warnings warnings = {0};
    const struct edge_hints hints = {.weight = "", .warnings = &warnings};
    const size_t size = strlen(line);
    struct field weight;

    if (edge_dialect_weight(line, edge_dialect_find_data(line, size), size, &hints, key, &weight,
                            NULL) != STATUS_OK ||
        weight.size != strlen(wanted) || memcmp(weight.bytes, wanted, weight.size) != 0) {
        fail_msg("%s", line);
    }
}

TEST(dicts_have_weights)
{
    char key[EDGE_KEY_SIZE] = "";
    char length[EDGE_KEY_SIZE] = "";

    check_weight("1 2 {}", "1", key);
    check_weight("1 2 { }", "1", key);
    assert_string_equal(key, "");
    check_weight("1 2 {'color': 'a, {b', 'weight': 5}", "5", key);
    assert_string_equal(key, "weight");
    check_weight("1 2 {'id': [1, {2: 3}], 'weight': -2.5e-05, 'x': \"it's\"} ", "-2.5e-05", key);
    check_weight("1 2 {'a\\'b': 1}", "1", key);
    check_weight("1 2 {'length': 7, 'color': 'red'}", "7", length);
}

TEST(others_are_refused)
{
    static const char *const lines[] = {"{'weight'}", "{'weight': 5", "{5, 6}", "{'a: 5}", "{a:{}"};
    struct warnings warnings = {0};
    const struct edge_hints hints = {.weight = "", .warnings = &warnings};
    static const char two[] = "{'a': 1, 'b': 2}";
    char key[EDGE_KEY_SIZE] = "";
    struct field weight;

    assert_int_equal(edge_dialect_find_data("1 2 {x", 6), 6);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(
            edge_dialect_weight(lines[i], 0, strlen(lines[i]), &hints, key, &weight, NULL),
            STATUS_BAD_GRAPH);
    }
    assert_int_equal(edge_dialect_weight(two, 0, strlen(two), &hints, key, &weight, NULL),
                     STATUS_BAD_GRAPH);
}
