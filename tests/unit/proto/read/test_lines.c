#include "proto/read/lines.h"
#include "tests/lib/test.h"

static struct word_cursor cursor_of(const char *line)
{
    return (struct word_cursor){line, line, line + strlen(line)};
}

TEST(words_are_separated_by_whitespace_and_have_column_numbers)
{
    struct word_cursor cursor = cursor_of("  sp\t12 ");
    struct field word = line_word_next(&cursor);

    assert_true(line_word_is(word, "sp") && line_word_is(word, "SP") && !line_word_is(word, "s"));
    assert_int_equal(word.column, 3);
    word = line_word_next(&cursor);
    assert_true(line_word_is(word, "12"));
    assert_int_equal(word.column, 6);
    assert_int_equal(line_word_next(&cursor).size, 0);
    assert_int_equal(line_word_expect_end(&cursor, NULL), STATUS_OK);
}

TEST(a_refusal_names_the_expected_value)
{
    struct word_cursor cursor = cursor_of("a b");
    struct problem problem = {0};

    (void)line_word_next(&cursor);
    assert_int_equal(line_word_expect_end(&cursor, &problem), STATUS_BAD_GRAPH);
    assert_string_equal(problem.detail, "Expected the end of the line but found 'b'.");
    assert_int_equal(problem.column, 3);
    assert_int_equal(line_word_refuse(line_word_next(&cursor), "a value", &problem),
                     STATUS_BAD_GRAPH);
    assert_string_equal(problem.detail, "Expected a value but the line ends.");
}

TEST(vertex_numbers_start_at_one)
{
    struct word_cursor cursor = cursor_of("1 7 0 8 x");
    struct problem problem = {0};
    uint32_t row = 99;

    assert_int_equal(line_word_parse_vertex(line_word_next(&cursor), 7, &row, &problem), STATUS_OK);
    assert_int_equal(row, 0);
    assert_int_equal(line_word_parse_vertex(line_word_next(&cursor), 7, &row, &problem), STATUS_OK);
    assert_int_equal(row, 6);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(line_word_parse_vertex(line_word_next(&cursor), 7, &row, &problem),
                         STATUS_BAD_GRAPH);
        assert_int_equal(problem.hint[0] != '\0', i == 0);
    }
    assert_int_equal(row, 6);
}

TEST(negative_counts_are_refused)
{
    struct word_cursor cursor = cursor_of("0 -1");
    int64_t count = 9;

    assert_int_equal(line_word_parse_count(line_word_next(&cursor), "a count", &count, NULL),
                     STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(line_word_parse_count(line_word_next(&cursor), "a count", &count, NULL),
                     STATUS_BAD_GRAPH);
}

TEST(the_fast_path_accepts_only_plain_integers)
{
    static const struct {
        const char *line;
        char delimiter;
        size_t count;
        bool is_plain;
    } lines[] = {
        {"1,20,99999999", ',', 3, true},  {"0 7", ' ', 2, true},     {"1\t2\t3", ' ', 3, true},
        {"1,2,3", ';', 3, false},         {"1,2", ',', 3, false},    {"1,2,3,", ',', 3, false},
        {"1,2,", ',', 3, false},          {"01,2,3", ',', 3, false}, {"1,,3", ',', 3, false},
        {"1, 2,3", ',', 3, false},        {"1,2,-3", ',', 3, false}, {"1,2,3.5", ',', 3, false},
        {"1,2,100000000", ',', 3, false}, {"1,2\t3", ',', 3, false}, {"", ',', 2, false},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        uint32_t found[3] = {0};
        const bool is_plain = line_parse_integers(lines[i].line, strlen(lines[i].line),
                                                  lines[i].delimiter, lines[i].count, found);

        if (is_plain != lines[i].is_plain) {
            fail_msg("'%s'", lines[i].line);
        }
        assert_true(i > 0 || (found[0] == 1 && found[1] == 20 && found[2] == 99999999));
    }
}
