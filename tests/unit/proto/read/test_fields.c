#include "proto/read/fields.h"
#include "tests/lib/test.h"

static enum status cut(char delimiter, const char *line, char *ret_fields, struct problem *reterr)
{
    char scratch[128];
    struct field_cursor cursor = {.scratch = scratch, .delimiter = delimiter};
    enum status status = STATUS_OK;

    *ret_fields = '\0';
    field_cursor_begin(&cursor, line, strlen(line));
    while (cursor.more && status == STATUS_OK) {
        struct field field;

        status = field_cursor_next(&cursor, &field, reterr);
        if (status == STATUS_OK) {
            snprintf(ret_fields + strlen(ret_fields), 64, "[%.*s]", (int)field.size, field.bytes);
        }
    }
    return status;
}

static void check(char delimiter, const char *line, const char *wanted)
{
    char fields[256];

    assert_int_equal(cut(delimiter, line, fields, NULL), STATUS_OK);
    assert_string_equal(fields, wanted);
}

TEST(lines_are_split_at_delimiters)
{
    check(',', "a, b ,,c", "[a][b][][c]");
    check(',', "a,", "[a][]");
    check('\t', "\ta b\t", "[][a b][]");
    check(' ', "  1 \t 2  ", "[1][2]");
    check(',', "\"a,\"\"b\"\" \" ,2", "[a,\"b\" ][2]");
    check(' ', "\"New York\" \"\" 3", "[New York][][3]");
    check(',', "", "[]");
}

TEST(a_closing_quote_ends_the_field)
{
    struct problem problem = {0};
    char fields[256];

    assert_int_equal(cut(',', "a,\"b", fields, &problem), STATUS_BAD_GRAPH);
    assert_int_equal(problem.column, 3);
    assert_int_equal(cut(',', "a,\"b\"c", fields, &problem), STATUS_BAD_GRAPH);
    assert_int_equal(problem.column, 6);
    assert_int_equal(cut(' ', "\"b\"c d", fields, &problem), STATUS_BAD_GRAPH);
    assert_int_equal(problem.column, 4);
}

TEST(the_delimiter_is_detected_from_a_line)
{
    assert_int_equal(field_delimiter("1 2\t3", 5, false), ' ');
    assert_int_equal(field_delimiter("a b\tc", 5, false), '\t');
    assert_int_equal(field_delimiter("1;2;3,5", 7, false), ';');
    assert_int_equal(field_delimiter("\"a;b;\",c", 8, false), ',');
    assert_int_equal(field_delimiter("a b", 3, false), ' ');
    assert_int_equal(field_delimiter("a b 1,5", 7, true), ' ');
    assert_int_equal(field_delimiter("src,how far,dst", 15, true), ',');
    assert_int_equal(field_announced_delimiter("SEP=;", 5), ';');
}
