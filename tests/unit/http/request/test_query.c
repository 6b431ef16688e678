#include "server/http/request/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum status parse(const char *text, char *copy, struct query *ret_query)
{
    struct problem problem;

    memcpy(copy, text, strlen(text) + 1);
    return query_parse(copy, ret_query, &problem);
}

static void escapes_are_decoded_once(void **state)
{
    char text[] = "a%2Fb%252e%C3%a4+c";

    (void)state;
    assert_true(query_decode(text));
    assert_string_equal(text, "a/b%2e\xC3\xA4+c");
}

static void broken_escapes_and_nul_are_refused(void **state)
{
    static const char *const cases[] = {"%", "%1", "a%zz", "%00", "%0g", "%%41", "abc%"};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16];

        memcpy(text, cases[i], strlen(cases[i]) + 1);
        assert_false(query_decode(text));
    }
}

static void parameters_are_split_and_decoded(void **state)
{
    char text[64];
    struct query query;

    (void)state;
    assert_int_equal(parse("source=a+b%2B&target=%3D%26&&verbose", text, &query), STATUS_OK);
    assert_int_equal(query.count, 3);
    assert_string_equal(query_value(&query, "source"), "a b+");
    assert_string_equal(query_value(&query, "target"), "=&");
    assert_string_equal(query_value(&query, "verbose"), "");
    assert_null(query_value(&query, "sourc"));
}

static void a_parameter_comes_once(void **state)
{
    char text[64];
    struct query query;

    (void)state;
    assert_int_equal(parse("a=1&b=2&%61=1", text, &query), STATUS_BAD_PARAMETER);
    assert_int_equal(parse("a=%0", text, &query), STATUS_BAD_REQUEST);
    assert_int_equal(parse("a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", text, &query), STATUS_BAD_REQUEST);
}

static void an_unknown_parameter_is_told_the_known_ones(void **state)
{
    static const char *const known[] = {"wait", "limit", NULL};
    char text[64];
    struct query query;
    struct problem problem;

    (void)state;
    assert_int_equal(parse("limit=1&wiat=2", text, &query), STATUS_OK);
    assert_int_equal(query_check(&query, known, &problem), STATUS_UNKNOWN_PARAMETER);
    assert_non_null(strstr(problem.detail, "wiat"));
    assert_non_null(strstr(problem.hint, "wait, limit"));
    assert_int_equal(parse("limit=1&wait=2", text, &query), STATUS_OK);
    assert_int_equal(query_check(&query, known, &problem), STATUS_OK);
}

static void values_have_types_and_ranges(void **state)
{
    char text[128];
    struct query query;
    struct problem problem;
    bool flag = false;
    int64_t number = 7;
    double seconds = -1;

    (void)state;
    assert_int_equal(parse("f=true&g=1&i=9&j=10&k=1.5&s=1.5&t=61&u=-1&v=", text, &query),
                     STATUS_OK);
    assert_int_equal(query_flag(&query, "f", &flag, &problem), STATUS_OK);
    assert_true(flag);
    assert_int_equal(query_flag(&query, "g", &flag, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_integer(&query, "absent", 0, 9, &number, &problem), STATUS_OK);
    assert_int_equal(number, 7);
    assert_int_equal(query_integer(&query, "i", 0, 9, &number, &problem), STATUS_OK);
    assert_int_equal(number, 9);
    assert_int_equal(query_integer(&query, "j", 0, 9, &number, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_integer(&query, "k", 0, 9, &number, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_integer(&query, "v", 0, 9, &number, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_seconds(&query, "s", 60, &seconds, &problem), STATUS_OK);
    assert_true(seconds == 1.5);
    assert_int_equal(query_seconds(&query, "t", 60, &seconds, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_seconds(&query, "u", 60, &seconds, &problem), STATUS_BAD_PARAMETER);
    assert_int_equal(query_seconds(&query, "u", 31536000, &seconds, &problem),
                     STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "from 0 to 31536000."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_decoded_once),
        cmocka_unit_test(broken_escapes_and_nul_are_refused),
        cmocka_unit_test(parameters_are_split_and_decoded),
        cmocka_unit_test(a_parameter_comes_once),
        cmocka_unit_test(an_unknown_parameter_is_told_the_known_ones),
        cmocka_unit_test(values_have_types_and_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
