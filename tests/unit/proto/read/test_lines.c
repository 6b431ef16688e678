#include "proto/read/lines.h"
#include "tests/lib/test.h"

static struct word_cursor cursor_of(const char *line)
{
    return (struct word_cursor){line, line, line + strlen(line)};
}

TEST(words_are_cut_at_blanks_and_know_their_columns)
{
    struct word_cursor cursor = cursor_of("  sp\t12 ");
    struct field word = line_word_next(&cursor);

    assert_true(line_word_is(word, "sp") && line_word_is_like(word, "SP") &&
                !line_word_is(word, "s"));
    assert_int_equal(word.column, 3);
    word = line_word_next(&cursor);
    assert_true(line_word_is(word, "12"));
    assert_int_equal(word.column, 6);
    assert_int_equal(line_word_next(&cursor).size, 0);
    assert_int_equal(line_word_expect_end(&cursor, NULL), STATUS_OK);
}

TEST(a_refusal_says_what_was_expected)
{
    struct word_cursor cursor = cursor_of("a b");
    struct problem problem = {0};

    (void)line_word_next(&cursor);
    assert_int_equal(line_word_expect_end(&cursor, &problem), STATUS_BAD_GRAPH);
    assert_string_equal(problem.detail, "There is 'b' where the end of the line should be.");
    assert_int_equal(problem.column, 3);
    assert_int_equal(line_word_refuse(line_word_next(&cursor), "a value", &problem),
                     STATUS_BAD_GRAPH);
    assert_string_equal(problem.detail, "The line ends where a value should be.");
}

TEST(vertices_are_counted_from_one)
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

TEST(counts_are_not_negative)
{
    struct word_cursor cursor = cursor_of("0 -1");
    int64_t count = 9;

    assert_int_equal(line_word_parse_count(line_word_next(&cursor), "a count", &count, NULL),
                     STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(line_word_parse_count(line_word_next(&cursor), "a count", &count, NULL),
                     STATUS_BAD_GRAPH);
}
