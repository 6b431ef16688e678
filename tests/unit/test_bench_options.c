#include "server/command/bench_options.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_sizes(const char *text, const uint32_t *expected, size_t count)
{
    struct bench_options options = {0};
    struct problem problem = {0};
    assert_int_equal(bench_options_sizes(text, &options, &problem), STATUS_OK);
    assert_int_equal(options.size_count, count);
    assert_memory_equal(options.sizes, expected, count * sizeof(uint32_t));
}

static void a_range_doubles_and_ends_with_its_end(void **state)
{
    (void)state;
    assert_sizes("64", (const uint32_t[]){64}, 1);
    assert_sizes("64,100,32", (const uint32_t[]){64, 100, 32}, 3);
    assert_sizes("256..1024", (const uint32_t[]){256, 512, 1024}, 3);
    assert_sizes("256..1000", (const uint32_t[]){256, 512, 1000}, 3);
    assert_sizes("7..7,1..2", (const uint32_t[]){7, 1, 2}, 3);
    assert_sizes("600000..1000000", (const uint32_t[]){600000, 1000000}, 2);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     ",",      "1,",    "0",          "-4",      "x",
                                      "4..2", "4..",    "..4",   "1...4",      "1000001", "4 ",
                                      "0x10", "0..100", "4..4x", "1..1000001", "4,,8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct bench_options options = {0};
        struct problem problem = {0};
        assert_int_equal(bench_options_sizes(bad[i], &options, &problem), STATUS_BAD_PARAMETER);
        assert_non_null(strstr(problem.detail, "--sizes"));
        assert_true(problem.hint[0] != '\0');
    }
}

static void more_sizes_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    char text[4 * BENCH_SIZE_LIMIT] = "1";
    struct bench_options options = {0};
    for (int i = 1; i < BENCH_SIZE_LIMIT; ++i) {
        strncat(text, ",1", sizeof text - strlen(text) - 1);
    }
    assert_int_equal(bench_options_sizes(text, &options, NULL), STATUS_OK);
    assert_int_equal(options.size_count, BENCH_SIZE_LIMIT);
    strncat(text, ",1", sizeof text - strlen(text) - 1);
    assert_int_equal(bench_options_sizes(text, &options, NULL), STATUS_BAD_PARAMETER);
}

static void kinds_are_those_that_are_named(void **state)
{
    (void)state;
    struct bench_options options = {0};
    assert_int_equal(bench_options_kinds("f8,u2", &options, NULL), STATUS_OK);
    assert_true(options.kinds_given);
    assert_true(options.kinds[ARITHMETIC_F8] && options.kinds[ARITHMETIC_NARROW]);
    assert_false(options.kinds[ARITHMETIC_I4] || options.kinds[ARITHMETIC_F4]);
    static const char *const bad[] = {"", "i8", "i4,", "i4 ", "I4", "i", "auto"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_int_equal(bench_options_kinds(bad[i], &options, NULL), STATUS_BAD_PARAMETER);
    }
}

static void a_narrow_row_says_what_it_is(void **state)
{
    (void)state;
    assert_string_equal(bench_options_kind_name(ARITHMETIC_NARROW), "u2");
    assert_string_equal(bench_options_kind_label(ARITHMETIC_NARROW), "i4 (16-bit)");
    assert_string_equal(bench_options_kind_label(ARITHMETIC_F4), "f4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_doubles_and_ends_with_its_end),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(more_sizes_than_there_is_room_for_are_refused),
        cmocka_unit_test(kinds_are_those_that_are_named),
        cmocka_unit_test(a_narrow_row_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
