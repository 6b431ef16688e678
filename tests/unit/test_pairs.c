#include "server/http/pairs.h"

#include "proto/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum status note_pair(void *context, const char *source, size_t source_size,
                             const char *target, size_t target_size, struct problem *reterr)
{
    struct text *seen = context;

    if (source_size == 4 && memcmp(source, "stop", 4) == 0) {
        return problem_set(reterr, STATUS_NO_SUCH_VERTEX, "stopped");
    }
    text_append(seen, source, source_size);
    text_append_char(seen, '>');
    text_append(seen, target, target_size);
    text_append_char(seen, ' ');
    return STATUS_OK;
}

static enum status walk(const char *body, struct text *seen, struct problem *reterr)
{
    struct pairs_visitor visitor = {seen, note_pair};

    text_clear(seen);
    return pairs_walk(body, strlen(body), &visitor, reterr);
}

static void names_are_handed_out_in_order(void **state)
{
    struct text seen = {0};
    struct problem problem;

    (void)state;
    assert_int_equal(walk(" { \"pairs\" : [ [1,-2] ,[\"a b\", \"\\u00e4\\\"\"],[3.5,\"7\"] ] } \n",
                          &seen, &problem),
                     STATUS_OK);
    assert_string_equal(seen.bytes, "1>-2 a b>\xC3\xA4\" 3.5>7 ");
    assert_int_equal(walk("{\"pairs\":[]}", &seen, &problem), STATUS_OK);
    assert_int_equal(seen.size, 0);
    text_finish(&seen);
}

static void another_shape_is_refused_where_it_begins(void **state)
{
    static const struct {
        const char *body;
        uint64_t column;
    } cases[] = {
        {"", 1},
        {"[]", 1},
        {"{}", 2},
        {"{\"pair\":[]}", 8},
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

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};

        assert_int_equal(walk(cases[i].body, &seen, &problem), STATUS_BAD_REQUEST);
        assert_int_equal(problem.column, cases[i].column);
    }
    text_finish(&seen);
}

static void the_visitor_ends_the_walk(void **state)
{
    struct text seen = {0};
    struct problem problem;

    (void)state;
    assert_int_equal(walk("{\"pairs\":[[1,2],[\"stop\",1],[3,4]]}", &seen, &problem),
                     STATUS_NO_SUCH_VERTEX);
    assert_string_equal(seen.bytes, "1>2 ");
    text_finish(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_handed_out_in_order),
        cmocka_unit_test(another_shape_is_refused_where_it_begins),
        cmocka_unit_test(the_visitor_ends_the_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
