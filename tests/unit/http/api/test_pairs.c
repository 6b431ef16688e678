#include "server/http/api/pairs.h"

#include "proto/text.h"
#include "tests/lib/test.h"

/* Reads the pairs and writes each to `seen` as "source>target ", after "header " if there is a
 * header. Stops at a source named "stop". */
static enum status walk_lines(enum pairs_form form, const char *body, size_t size,
                              struct text *seen, struct problem *reterr)
{
    struct pairs_reader reader;
    enum status status;

    text_clear(seen);
    text_append_string(seen, "");
    pairs_open(&reader, form, body, size);
    while ((status = pairs_next(&reader, reterr)) == STATUS_OK && !reader.ended) {
        text_append_string(seen, reader.has_header && reader.count == 1 ? "header " : "");
        for (int i = 0; i < 2; i++) {
            text_append(seen, reader.pair[i].bytes, reader.pair[i].size);
            text_append_char(seen, i == 0 ? '>' : ' ');
        }
        if (reader.pair[0].size == 4 && memcmp(reader.pair[0].bytes, "stop", 4) == 0) {
            pairs_place(&reader, reterr);
            status = STATUS_NO_SUCH_VERTEX;
            break;
        }
    }
    pairs_close(&reader);
    return status;
}

static enum status walk(const char *body, struct text *seen, struct problem *reterr)
{
    return walk_lines(PAIRS_JSON, body, strlen(body), seen, reterr);
}

TEST(pairs_in_json_are_read_in_order)
{
    struct text seen = {0};
    struct problem problem;

    assert_int_equal(walk(" { \"pairs\" : [ [1,-2] ,[\"a b\", \"\\u00e4\\\"\"],[3.5,\"7\"] ] } \n",
                          &seen, &problem),
                     STATUS_OK);
    assert_string_equal(seen.bytes, "1>-2 a b>\xC3\xA4\" 3.5>7 ");
    assert_int_equal(walk("{\"pairs\":[]}", &seen, &problem), STATUS_OK);
    assert_int_equal(seen.size, 0);
    text_finish(&seen);
}

TEST(json_with_the_wrong_shape_is_refused_at_the_first_unexpected_byte)
{
    static const struct {
        const char *body;
        uint64_t column;
    } cases[] = {
        {"", 1},
        {"[]", 1},
        {"{}", 2},
        {"{\"pair\":[]}", 2},
        {"{\"pairs\":{}}", 10},
        {"{\"pairs\":[[1]]}", 13},
        {"{\"pairs\":[[1,2,3]]}", 15},
        {"{\"pairs\":[[1,2],]}", 17},
        {"{\"pairs\":[[1,null]]}", 14},
        {"{\"pairs\":[[\"a,2]]}", 12},
        {"{\"pairs\":[[\"\\x\",2]]}", 12},
        {"{\"pairs\":[[1,2]]", 17},
        {"{\"pairs\":[[1,2]],\"more\":1}", 17},
        {"{\"pairs\":[[1,2]]}x", 18},
    };
    struct text seen = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};

        assert_int_equal(walk(cases[i].body, &seen, &problem), STATUS_BAD_REQUEST);
        assert_int_equal(problem.column, cases[i].column);
    }
    text_finish(&seen);
}

static const char *const media_types[] = {"application/json", "text/csv", NULL};

TEST(the_media_type_or_the_first_bytes_select_the_form_of_the_body)
{
    static const struct {
        const char *media_type;
        const char *body;
        enum pairs_form form;
    } cases[] = {
        {NULL, " {\"pairs\":[]}", PAIRS_JSON},
        {NULL, "[1]", PAIRS_JSON},
        {"text/plain", "", PAIRS_JSON},
        {NULL, "1,2\n", PAIRS_CSV},
        {"application/x-www-form-urlencoded", "\"a\",b", PAIRS_CSV},
        {NULL, "c,d\n", PAIRS_CSV},
        {"text/csv; charset=utf-8", "[1],2\n", PAIRS_CSV},
        {"application/json", "1,2\n", PAIRS_JSON},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const enum pairs_form form =
            pairs_find_form(cases[i].media_type, media_types, cases[i].body, strlen(cases[i].body));
        assert_int_equal(form, cases[i].form);
    }
}

/* Each body is in an allocation of its exact size, so a sanitizer detects reads beyond it. */
TEST(random_bytes_are_read_within_the_bounds_of_the_body)
{
    static const char letters[] = "{}[]\"pairs:,,1 2\\u00e4\n\r\tq cx-";
    static const char *const starts[] = {"{\"pairs\":[[1,2],[\"a\",", "1,2\n\""};
    struct text seen = {0};
    uint64_t seed = 9;
    int walked = 0;

    for (int round = 0; round < 30000; round++) {
        struct text body = {0};
        const enum pairs_form form = (enum pairs_form)(round / 2 % 2);

        text_append_string(&body, round % 2 == 0 ? starts[form] : "");
        for (int i = 0; i < round % 23; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text_append_char(&body, letters[(seed >> 33) % (sizeof letters - 1)]);
        }
        char *copy = malloc(body.size + 1);
        assert_non_null(copy);
        memcpy(copy, body.size > 0 ? body.bytes : "", body.size);
        char *exact = realloc(copy, body.size > 0 ? body.size : 1);
        assert_non_null(exact);
        walked += walk_lines(form, exact, body.size, &seen, NULL) == STATUS_OK;
        (void)pairs_find_form(NULL, media_types, exact, body.size);
        free(exact);
        text_finish(&body);
    }
    assert_true(walked > 0 && walked < 30000);
    text_finish(&seen);
}

static void expect_lines(const char *body, const char *pairs)
{
    struct text seen = {0};

    assert_int_equal(walk_lines(PAIRS_CSV, body, strlen(body), &seen, NULL), STATUS_OK);
    assert_string_equal(seen.bytes, pairs);
    text_finish(&seen);
}

TEST(csv_may_have_quotes_spaces_and_any_line_break)
{
    expect_lines("1,2\r\n\n a b , -3 \n\"x,\"\"y\"\"\",\"\"", "1>2 a b>-3 x,\"y\"> ");
    expect_lines("Source,target\n1,2\n", "header 1>2 ");
    expect_lines("1,2\nsource,target\n", "1>2 source>target ");
    expect_lines(",\n", "> ");
    expect_lines("\"a\nb\r\n\",\"\n\n\"\"\"\r\n3,4", "a\nb\n>\n\n\" 3>4 ");
    expect_lines("\n", "");
}

TEST(invalid_csv_lines_are_refused_with_their_position)
{
    static const struct {
        const char *body;
        uint64_t line;
        uint64_t column;
    } cases[] = {
        {"1,2\n3\n", 2, 0},
        {"1,2,3\n", 1, 0},
        {"\"1,2\n", 1, 0},
        {"1,\"2\n\n3", 1, 0},
        {"1,\"2\n\n\"\n\n3\n", 5, 0},
        {"\"1\"x,2\n", 1, 4},
        {"1,2\nstop,2\n", 2, 0},
    };
    struct text seen = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};
        enum status status =
            walk_lines(PAIRS_CSV, cases[i].body, strlen(cases[i].body), &seen, &problem);

        assert_int_equal(status, strstr(cases[i].body, "stop") != NULL ? STATUS_NO_SUCH_VERTEX
                                                                       : STATUS_BAD_REQUEST);
        assert_int_equal(problem.line, cases[i].line);
        assert_int_equal(problem.column, cases[i].column);
    }
    text_finish(&seen);
}

TEST(vertex_names_are_mapped_to_rows_in_every_form_of_the_body)
{
    static const uint32_t rows[] = {0, 2, 1, 1};
    static const struct {
        enum pairs_form form;
        const char *body;
        size_t size;        /* 0: the length of the string */
        enum status status; /* status after both pairs were read */
        uint64_t line;
        uint64_t column;
    } cases[] = {
        {PAIRS_JSON, "{\"pairs\":[[5,7],[6,6]]}", 0, STATUS_OK, 0, 0},
        {PAIRS_CSV, "5,7\n6,6\n", 0, STATUS_OK, 0, 0},
        {PAIRS_BINARY, (const char *)rows, 16, STATUS_OK, 0, 0},
        {PAIRS_JSON, "{\"pairs\":[[5,7],[6,6],[5,8]]}", 0, STATUS_NO_SUCH_VERTEX, 0, 23},
        {PAIRS_CSV, "5,7\n6,6\n4,5\n", 0, STATUS_NO_SUCH_VERTEX, 3, 0},
    };
    struct vertex_names *names;

    assert_int_equal(vertex_names_create_range(3, 5, &names), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].body);
        struct problem problem = {0};
        struct pairs_reader reader;
        uint32_t pair[1][2];
        size_t count;

        pairs_open(&reader, cases[i].form, cases[i].body, size);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(pairs_read_rows(&reader, names, 1, pair, &count, &problem), STATUS_OK);
            assert_int_equal(count, 1);
            assert_memory_equal(pair, rows + 2 * k, sizeof pair);
        }
        assert_int_equal(pairs_read_rows(&reader, names, 1, pair, &count, &problem),
                         cases[i].status);
        assert_int_equal(reader.ended, cases[i].status == STATUS_OK);
        assert_int_equal(problem.line, cases[i].line);
        assert_int_equal(problem.column, cases[i].column);
        pairs_close(&reader);
    }
    vertex_names_destroy(names);
}

TEST(binary_pairs_must_be_complete_and_inside_the_matrix)
{
    static const uint32_t rows[] = {0, 1, 2, 3};
    struct vertex_names *names;
    struct problem problem;
    struct pairs_reader reader;
    uint32_t pairs[2][2];
    size_t count;

    assert_int_equal(vertex_names_create_range(3, 0, &names), STATUS_OK);
    pairs_open(&reader, PAIRS_BINARY, (const char *)rows, 15);
    assert_int_equal(pairs_read_rows(&reader, names, 2, pairs, &count, &problem),
                     STATUS_BAD_REQUEST);
    pairs_open(&reader, PAIRS_BINARY, (const char *)rows, 16);
    assert_int_equal(pairs_read_rows(&reader, names, 1, pairs, &count, &problem), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pairs_read_rows(&reader, names, 2, pairs, &count, &problem),
                     STATUS_NO_SUCH_VERTEX);
    assert_non_null(strstr(problem.detail, "Pair 1 is (2, 3)"));
    vertex_names_destroy(names);
}

static enum status walk_weighted(const char *body, struct text *seen, struct problem *reterr)
{
    struct pairs_reader reader;
    enum status status;

    text_clear(seen);
    pairs_open_weighted(&reader, PAIRS_CSV, body, strlen(body));
    while ((status = pairs_next(&reader, reterr)) == STATUS_OK && !reader.ended) {
        for (size_t i = 0; i < 3; i++) {
            text_append(seen, reader.pair[i].bytes, reader.pair[i].size);
            text_append_char(seen, i < 2 ? '>' : ' ');
        }
    }
    pairs_close(&reader);
    return status;
}

TEST(a_csv_header_row_may_name_the_columns_of_a_change_list)
{
    static const struct {
        const char *body;
        const char *seen;
    } cases[] = {
        {"source,target,weight\na,b,5\n", "a>b>5 "},
        {"FROM,To,cost\na,b,5\n", "a>b>5 "},
        {"time_s,dst,src\n5,b,a\n", "a>b>5 "},
        {"u;v;length\na;b;5\n", "a>b>5 "},
        {"u\tv\tw\na\tb\t\n", "a>b> "},
        {"u,v,5\n", "u>v>5 "},
        {"a,b,5\nsource,target,weight\n", "a>b>5 source>target>weight "},
        {"\"a,b\",c,5\n", "a,b>c>5 "},
    };
    struct text seen = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(walk_weighted(cases[i].body, &seen, NULL), STATUS_OK);
        text_append_char(&seen, '\0');
        assert_string_equal(seen.bytes, cases[i].seen);
    }
    text_finish(&seen);
}

TEST(the_size_of_a_quoted_name_over_many_lines_is_limited)
{
    struct problem problem = {0};
    struct text body = {0};
    struct text seen = {0};

    text_append_string(&body, "1,2\n\"");
    for (int i = 0; i < 10000; i++) {
        text_append_string(&body, "a\n");
    }
    text_append_string(&body, "\",x\n");
    assert_int_equal(walk_lines(PAIRS_CSV, body.bytes, body.size, &seen, &problem),
                     STATUS_BAD_REQUEST);
    assert_int_equal(problem.line, 2);
    text_finish(&body);
    text_finish(&seen);
}
