#include "server/http/api/pairs.h"

#include "proto/text.h"
#include "tests/lib/test.h"

static enum status read_all(enum pairs_form form, const char *body, size_t size, struct text *seen,
                            struct problem *reterr)
{
    struct pairs_reader reader;
    enum status status;

    pairs_open(&reader, form, body, size);
    while ((status = pairs_next(&reader, reterr)) == STATUS_OK && !reader.ended) {
        text_append(seen, reader.pair[0].bytes, reader.pair[0].size);
        text_append_char(seen, '>');
        text_append(seen, reader.pair[1].bytes, reader.pair[1].size);
        text_append_char(seen, ' ');
    }
    pairs_close(&reader);
    return status;
}

static enum status walk(const char *body, struct text *seen, struct problem *reterr)
{
    text_clear(seen);
    return read_all(PAIRS_JSON, body, strlen(body), seen, reterr);
}

TEST(names_are_handed_out_in_order)
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

TEST(another_shape_is_refused_where_it_begins)
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

TEST(the_first_bytes_tell_the_form)
{
    static const struct {
        const char *body;
        enum pairs_form form;
    } cases[] = {
        {" {\"pairs\":[]}", PAIRS_JSON},
        {"[1]", PAIRS_JSON},
        {"", PAIRS_JSON},
        {"1,2\n", PAIRS_CSV},
        {"\"a\",b", PAIRS_CSV},
        {"c,d\n", PAIRS_CSV},
        {"c note\n", PAIRS_P2P},
        {"\np aux sp p2p 1\n", PAIRS_P2P},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pairs_sniff(cases[i].body, strlen(cases[i].body)), cases[i].form);
    }
}

TEST(lines_are_walked_too)
{
    struct text seen = {0};

    assert_int_equal(read_all(PAIRS_CSV, "1,2\n", 4, &seen, NULL), STATUS_OK);
    assert_int_equal(read_all(PAIRS_P2P, "p aux sp p2p 1\nq 3 4", 20, &seen, NULL), STATUS_OK);
    assert_string_equal(seen.bytes, "1>2 3>4 ");
    text_finish(&seen);
}

/* Each body is copied to storage of its size, so that a sanitizer sees reads beyond it. */
TEST(any_bytes_are_walked_or_refused)
{
    static const char letters[] = "{}[]\"pairs:,,1 2\\u00e4\n\r\tq cx-";
    static const char *const starts[] = {"{\"pairs\":[[1,2],[\"a\",", "1,2\n\"",
                                         "p aux sp p2p 3\nq "};
    struct text seen = {0};
    uint64_t seed = 9;
    int walked = 0;

    for (int round = 0; round < 30000; round++) {
        struct text body = {0};
        const enum pairs_form form = (enum pairs_form)(round % 3);

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
        text_clear(&seen);
        walked += read_all(form, exact, body.size, &seen, NULL) == STATUS_OK;
        (void)pairs_sniff(exact, body.size);
        free(exact);
        text_finish(&body);
    }
    assert_true(walked > 0 && walked < 30000);
    text_finish(&seen);
}
