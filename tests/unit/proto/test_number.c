#include "proto/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool integer_is(const char *text, int64_t wanted)
{
    int64_t value = ~wanted;

    return number_parse_integer(text, strlen(text), &value) && value == wanted;
}

static bool is_no_integer(const char *text)
{
    return !number_parse_integer(text, strlen(text), &(int64_t){0});
}

static void integers_are_read_to_the_last(void **state)
{
    (void)state;
    assert_true(integer_is("0", 0) && integer_is("-12", -12) && integer_is("+007", 7));
    assert_true(integer_is("9223372036854775807", INT64_MAX));
    assert_true(integer_is("-9223372036854775808", INT64_MIN));
    assert_true(is_no_integer("9223372036854775808") && is_no_integer("-9223372036854775809"));
    assert_true(is_no_integer("") && is_no_integer("-") && is_no_integer("1 ") &&
                is_no_integer("1.0"));
}

static void only_one_form_is_canonical(void **state)
{
    static const char *const others[] = {"", "-", "00", "-0", "+1", "01", "-01", "1a"};
    int64_t value;

    (void)state;
    assert_true(number_is_canonical_integer("0", 1, &value) && value == 0);
    assert_true(number_is_canonical_integer("-10", 3, &value) && value == -10);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(number_is_canonical_integer(others[i], strlen(others[i]), &value));
    }
}

static void reals_are_those_of_strtod(void **state)
{
    static const char *const texts[] = {
        "0",
        "1.5",
        "-2.25e3",
        ".5",
        "5.",
        "1e-400",
        "123456789012345678901234567890",
        "1e22",
        "9007199254740993",
        "0.1",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "0.00000000000000000000000000000000000000012345678901234567890123"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value;

        assert_true(number_parse_real(texts[i], strlen(texts[i]), &value));
        assert_true(value == strtod(texts[i], NULL));
    }
}

static void other_words_are_no_reals(void **state)
{
    static const char *const texts[] = {"",    "-",    ".",   "e5",    "1e", "1e+",   "inf",
                                        "nan", "0x10", "1,5", "1.2.3", " 1", "1e400", "-1e400"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_false(number_parse_real(texts[i], strlen(texts[i]), &(double){0}));
    }
}

static bool prints(double value, bool single, const char *wanted)
{
    char buffer[NUMBER_PRINT_SIZE];
    size_t size = number_print_real(value, single, buffer);

    return size == strlen(wanted) && memcmp(buffer, wanted, size) == 0;
}

static void reals_print_shortest(void **state)
{
    (void)state;
    assert_true(prints(3, false, "3") && prints(-0.0, false, "0") && prints(0.1, false, "0.1"));
    assert_true(prints((double)0.1f, true, "0.1") && prints(1e300, false, "1e+300"));
    assert_true(prints(0.1 + 0.2, false, "0.30000000000000004"));
    assert_true(prints(-1234.5678, false, "-1234.5678") && prints(0.0001, false, "0.0001"));
    assert_true(prints(0.00001, false, "1e-05") && prints(-1.5e-7, false, "-1.5e-07"));
    assert_true(prints(1e15, false, "1000000000000000") && prints(1e17, false, "1e+17"));
    assert_true(prints(12345678901234567e0, false, "12345678901234568"));
    assert_true(prints((double)16777216.F, true, "16777216"));
    assert_true(prints(5e-324, false, "5e-324") && prints((double)1e-45f, true, "1e-45"));
}

static void printed_reals_read_back(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char buffer[NUMBER_PRINT_SIZE];
        double value;
        double back;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        assert_true(number_parse_real(buffer, number_print_real(value, false, buffer), &back));
        assert_true(back == value);
    }
}

static void integers_print(void **state)
{
    char buffer[NUMBER_PRINT_SIZE];

    (void)state;
    assert_int_equal(number_print_integer(INT64_MIN, buffer), 20);
    assert_memory_equal(buffer, "-9223372036854775808", 20);
    assert_int_equal(number_print_integer(0, buffer), 1);
    assert_int_equal(number_print_integer(-1230456, buffer), 8);
    assert_memory_equal(buffer, "-1230456", 8);
    for (int64_t power = 1, digits = 1; digits < 19; power *= 10, digits++) {
        assert_int_equal(number_print_integer(power, buffer), digits);
        assert_int_equal(number_print_integer(power * 10 - 1, buffer), digits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_to_the_last),
        cmocka_unit_test(only_one_form_is_canonical),
        cmocka_unit_test(reals_are_those_of_strtod),
        cmocka_unit_test(other_words_are_no_reals),
        cmocka_unit_test(reals_print_shortest),
        cmocka_unit_test(printed_reals_read_back),
        cmocka_unit_test(integers_print),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
