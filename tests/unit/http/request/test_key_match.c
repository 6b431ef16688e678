#include "server/http/request/key_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS no_errors()
#define VALGRIND_MAKE_MEM_UNDEFINED(address, size) ((void)(address), (void)(size))
#define VALGRIND_MAKE_MEM_DEFINED(address, size) ((void)(address), (void)(size))

static unsigned no_errors(void)
{
    return 0;
}
#endif

#define COUNT 20
/* Of a test that was not run. */
#define SKIPPED 77

struct thing {
    char other[5];
    unsigned char digest[KEY_DIGEST_SIZE];
};

static void fill(struct thing things[COUNT])
{
    for (size_t i = 0; i < COUNT; i++) {
        memset(&things[i], 0xEE, sizeof things[i]);
        for (size_t at = 0; at < KEY_DIGEST_SIZE; at++) {
            things[i].digest[at] = (unsigned char)(i * 37 + at * at);
        }
    }
}

static size_t find(const struct thing things[COUNT], size_t count, const unsigned char *digest)
{
    return key_match_find(things[0].digest, sizeof things[0], count, digest);
}

static void each_is_found_where_it_is(void **state)
{
    struct thing things[COUNT];

    (void)state;
    fill(things);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(find(things, COUNT, things[i].digest), i);
        assert_int_equal(find(things, i, things[i].digest), i); /* not among those before it */
    }
    assert_int_equal(find(things, 0, things[0].digest), 0);
}

static void every_bit_counts(void **state)
{
    struct thing things[COUNT];
    unsigned char digest[KEY_DIGEST_SIZE];

    (void)state;
    fill(things);
    for (size_t bit = 0; bit < 8 * (size_t)KEY_DIGEST_SIZE; bit++) {
        memcpy(digest, things[7].digest, sizeof digest);
        digest[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(find(things, COUNT, digest), COUNT);
    }
}

/* What is undefined for valgrind is secret for us: it reports each branch and address that depends
 * on it. What has been found is told to the client, and so is no secret. */
static void nothing_depends_on_what_is_secret(void **state)
{
    struct thing things[COUNT];
    unsigned char digest[KEY_DIGEST_SIZE];
    const unsigned before = VALGRIND_COUNT_ERRORS;

    (void)state;
    for (size_t i = 0; i <= COUNT; i++) {
        fill(things);
        memcpy(digest, things[i % COUNT].digest, sizeof digest);
        digest[3] ^= i == COUNT;
        for (size_t k = 0; k < COUNT; k++) {
            VALGRIND_MAKE_MEM_UNDEFINED(things[k].digest, KEY_DIGEST_SIZE);
        }
        VALGRIND_MAKE_MEM_UNDEFINED(digest, sizeof digest);
        size_t found = find(things, COUNT, digest);
        VALGRIND_MAKE_MEM_DEFINED(&found, sizeof found);
        assert_int_equal(found, i);
    }
    assert_int_equal(VALGRIND_COUNT_ERRORS, before);
}

/* So a silent valgrind says something. */
static void a_comparison_that_stops_early_is_reported(void **state)
{
    static volatile unsigned char secret[KEY_DIGEST_SIZE];
    const unsigned before = VALGRIND_COUNT_ERRORS;
    size_t at = 0;

    (void)state;
    VALGRIND_MAKE_MEM_UNDEFINED(secret, sizeof secret);
    while (at < sizeof secret && secret[at] == 0) {
        at++;
    }
    assert_int_equal(at, sizeof secret);
    assert_true(VALGRIND_COUNT_ERRORS > before);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_where_it_is),
        cmocka_unit_test(every_bit_counts),
    };
    const struct CMUnitTest watched[] = {
        cmocka_unit_test(nothing_depends_on_what_is_secret),
        cmocka_unit_test(a_comparison_that_stops_early_is_reported),
    };

    if (argc > 1 && strcmp(argv[1], "--watched") == 0) {
        return RUNNING_ON_VALGRIND ? cmocka_run_group_tests(watched, NULL, NULL) : SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
