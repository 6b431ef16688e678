#include "server/http/api/pairs.h"

#include "proto/text.h"
#include "tests/lib/test.h"

static enum status walk(enum pairs_form form, const char *body, struct text *seen,
                        struct problem *reterr)
{
    struct pairs_reader reader;
    enum status status = STATUS_OK;

    text_clear(seen);
    text_append_string(seen, "");
    pairs_open(&reader, form, body, strlen(body));
    for (;;) {
        const bool had_header = reader.has_header;

        status = pairs_next(&reader, reterr);
        text_append_string(seen, reader.has_header && !had_header ? "header " : "");
        if (status != STATUS_OK || reader.ended) {
            return status;
        }
        text_append(seen, reader.pair[0].bytes, reader.pair[0].size);
        text_append_char(seen, '>');
        text_append(seen, reader.pair[1].bytes, reader.pair[1].size);
        text_append_char(seen, ' ');
        if (reader.pair[0].size == 4 && memcmp(reader.pair[0].bytes, "stop", 4) == 0) {
            pairs_place(&reader, reterr);
            return STATUS_NO_SUCH_VERTEX;
        }
    }
}

static void expect(enum pairs_form form, const char *body, const char *pairs)
{
    struct text seen = {0};

    assert_int_equal(walk(form, body, &seen, NULL), STATUS_OK);
    assert_string_equal(seen.bytes, pairs);
    text_finish(&seen);
}

TEST(csv_has_quotes_blanks_and_any_end_of_line)
{
    expect(PAIRS_CSV, "1,2\r\n\n a b , -3 \n\"x,\"\"y\"\"\",\"\"", "1>2 a b>-3 x,\"y\"> ");
    expect(PAIRS_CSV, "Source,target\n1,2\n", "header 1>2 ");
    expect(PAIRS_CSV, "1,2\nsource,target\n", "1>2 source>target ");
    expect(PAIRS_CSV, ",\n", "> ");
    expect(PAIRS_CSV, "\"a\nb\r\n\",\"\n\n\"\"\"\r\n3,4", "a\nb\r\n>\n\n\" 3>4 ");
    expect(PAIRS_CSV, "\n", "");
}

TEST(p2p_has_comments_and_a_count)
{
    expect(PAIRS_P2P, "c a comment\np aux sp p2p 2\nq 1 2\r\nc\n\nq  3\t4\n", "1>2 3>4 ");
    expect(PAIRS_P2P, "p aux sp p2p 0", "");
}

TEST(other_lines_are_refused_where_they_are)
{
    static const struct {
        enum pairs_form form;
        const char *body;
        uint64_t line;
        uint64_t column;
    } cases[] = {
        {PAIRS_CSV, "1,2\n3\n", 2, 2},
        {PAIRS_CSV, "1,2,3\n", 1, 4},
        {PAIRS_CSV, "\"1,2\n", 1, 2},
        {PAIRS_CSV, "1,\"2\n\n3", 1, 4},
        {PAIRS_CSV, "1,\"2\n\n\"\n\n3\n", 5, 2},
        {PAIRS_CSV, "\"1\"x,2\n", 1, 4},
        {PAIRS_CSV, "1,2\nstop,2\n", 2, 0},
        {PAIRS_P2P, "q 1 2\n", 1, 1},
        {PAIRS_P2P, "p aux sp p2p x\n", 1, 14},
        {PAIRS_P2P, "p sp 3 3\n", 1, 1},
        {PAIRS_P2P, "p aux sp p2p 1\nq 1\n", 2, 4},
        {PAIRS_P2P, "p aux sp p2p 1\nq 1 2 3\n", 2, 8},
        {PAIRS_P2P, "p aux sp p2p 1\na 1 2 3\n", 2, 1},
        {PAIRS_P2P, "p aux sp p2p 2\nq 1 2\n", 0, 0},
        {PAIRS_P2P, "p aux sp p2p 1\nq 1 2\nq 1 2\n", 0, 0},
        {PAIRS_P2P, "p aux sp p2p 1\np aux sp p2p 1\n", 2, 1},
        {PAIRS_P2P, "c\n", 0, 0},
        {PAIRS_P2P, "p aux sp p2p 1\nq stop 1\n", 2, 0},
    };
    struct text seen = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};
        enum status status = walk(cases[i].form, cases[i].body, &seen, &problem);

        assert_int_equal(status, strstr(cases[i].body, "stop") != NULL ? STATUS_NO_SUCH_VERTEX
                                                                       : STATUS_BAD_REQUEST);
        assert_int_equal(problem.line, cases[i].line);
        assert_int_equal(problem.column, cases[i].column);
    }
    text_finish(&seen);
}

TEST(a_name_has_a_longest_size)
{
    struct text body = {0};
    struct text seen = {0};

    text_append_char(&body, '"');
    for (int i = 0; i < 5000; i++) {
        text_append_string(&body, "\"\"");
    }
    text_append_string(&body, "\",x\n");
    assert_int_equal(walk(PAIRS_CSV, body.bytes, &seen, NULL), STATUS_BAD_REQUEST);
    text_finish(&body);
    text_finish(&seen);
}
