#include "server/http/request/accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const offers[] = {"application/json", "text/plain", NULL};

static void the_offer_liked_best_is_chosen(void **state)
{
    static const struct {
        const char *accept;
        size_t index;
    } cases[] = {
        {NULL, 0},
        {"", 0},
        {"*/*", 0},
        {"text/plain", 1},
        {"TEXT/Plain; charset=utf-8", 1},
        {"text/*", 1},
        {"application/json;q=0.5, text/plain", 1},
        {"text/plain;q=0.2,*/*;q=0.1", 1},
        {"text/html, */*;q=0.1", 0},
        {"application/*, text/plain", 0},
        {"application/json;q=0, */*", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t index = 9;

        assert_true(accept_choose(cases[i].accept, offers, &index));
        assert_int_equal(index, cases[i].index);
    }
}

static void an_accept_may_refuse_all(void **state)
{
    size_t index;

    (void)state;
    assert_false(accept_choose("text/html", offers, &index));
    assert_false(accept_choose("*/*;q=0", offers, &index));
    assert_false(accept_choose("text/plain;q=0", offers, &index));
    assert_false(accept_choose("text", offers, &index));
}

static void a_wait_is_found_among_preferences(void **state)
{
    double wait_s = -1;

    (void)state;
    assert_true(accept_wait("wait=30", &wait_s));
    assert_true(wait_s == 30);
    assert_true(accept_wait("respond-async, Wait=2.5 ,wait=9", &wait_s));
    assert_true(wait_s == 2.5);
    assert_true(accept_wait("wait=\"7\"; why=later, respond-async", &wait_s));
    assert_true(wait_s == 7);
    assert_false(accept_wait("wait=\"\"", &wait_s));
    assert_false(accept_wait(NULL, &wait_s));
    assert_false(accept_wait("respond-async", &wait_s));
    assert_false(accept_wait("wait=-1", &wait_s));
    assert_false(accept_wait("wait=soon", &wait_s));
    assert_false(accept_wait("await=3", &wait_s));
}

static void codings_have_their_quality(void **state)
{
    (void)state;
    assert_true(accept_coding("gzip;q=0.5, zstd", "gzip", 0) == 0.5);
    assert_true(accept_coding("gzip;q=0.5, ZSTD", "zstd", 0) == 1);
    assert_true(accept_coding("gzip;q=5", "gzip", 0) == 1);
    assert_true(accept_coding("gzip;q=-1, zstd", "gzip", 1) == 0);
    assert_true(accept_coding("*;q=0.25, zstd", "gzip", 0) == 0.25);
    assert_true(accept_coding("zstd , *;q=0.25", "zstd", 0) == 1);
    assert_true(accept_coding("br", "gzip", 0.125) == 0.125);
    assert_true(accept_coding("", "gzip", 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_offer_liked_best_is_chosen),
        cmocka_unit_test(an_accept_may_refuse_all),
        cmocka_unit_test(a_wait_is_found_among_preferences),
        cmocka_unit_test(codings_have_their_quality),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
