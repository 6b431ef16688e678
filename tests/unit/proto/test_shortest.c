#include "proto/shortest.h"

#include "proto/power_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DRAWS 60000

/* By trying: the fewest digits with which printf and strtod give the number back. */
static struct shortest by_trying(double value, bool single)
{
    char text[64];
    int precision = 0;

    do {
        snprintf(text, sizeof text, "%.*e", precision++, value);
    } while (single ? strtof(text, NULL) != (float)value : strtod(text, NULL) != value);

    struct shortest found = {0, (int)strtol(strchr(text, 'e') + 1, NULL, 10)};

    for (const char *at = text; *at != 'e'; at++) {
        if (*at != '.') {
            found.digits = found.digits * 10 + (uint64_t)(*at - '0');
        }
    }
    found.exponent -= precision - 1;
    while (found.digits % 10 == 0) {
        found.digits /= 10;
        found.exponent++;
    }
    return found;
}

/* Rounding to nearest may miss a decimal that reads back on the wider side of a power of two, and
 * so take one digit more: then ours is shorter and reads back, which is all that is asked. */
static void expect(double value, bool single)
{
    const struct shortest found = shortest_decimal(value, single);
    const struct shortest tried = by_trying(value, single);
    char text[64];

    snprintf(text, sizeof text, "%llue%d", (unsigned long long)found.digits, found.exponent);
    assert_true(single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value);
    assert_true(found.digits % 10 != 0);
    if (found.digits != tried.digits || found.exponent != tried.exponent) {
        assert_true(found.digits < tried.digits);
    }
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

static void doubles_of_any_bits(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t bits = draw(&seed) & INT64_MAX;
        double value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            expect(value, false);
        }
    }
}

static void floats_of_any_bits(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const uint32_t bits = (uint32_t)(draw(&seed) >> 32) & INT32_MAX;
        float value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            expect((double)value, true);
        }
    }
}

static void decimals_come_back_as_they_were(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t digits = draw(&seed) % 1000000 | 1;
        const struct shortest single = shortest_decimal((double)((float)digits / 1000), true);
        const struct shortest found = shortest_decimal((double)digits / 1000, false);

        if (digits % 10 != 0) {
            assert_true(found.digits == digits && found.exponent == -3);
            assert_true(single.digits == digits && single.exponent == -3);
        }
    }
}

static void every_power_of_two(void **state)
{
    (void)state;
    for (int q = -1074; q < 1024; q++) {
        expect(ldexp(1, q), false);
        expect(nextafter(ldexp(1, q), 0) > 0 ? nextafter(ldexp(1, q), 0) : 1, false);
    }
    for (int q = -149; q < 128; q++) {
        expect(ldexp(1, q), true);
    }
    expect(5e-324, false);
    expect(1.7976931348623157e308, false);
    expect(9007199254740993e0, false);
}

static void the_table_has_powers_of_ten(void **state)
{
    uint64_t power = 1;

    (void)state;
    assert_int_equal(sizeof power_table / sizeof power_table[0], 617);
    for (int k = 0; k < 20; k++, power *= 10) {
        const struct power entry = power_table[k - POWER_TABLE_FIRST];

        assert_true(entry.high == power << __builtin_clzll(power) && entry.low == 0);
    }
    /* 10^-1 is 0.8 * 2^-3: 0xCCCC... without end, rounded up. */
    assert_true(power_table[-1 - POWER_TABLE_FIRST].high == 0xCCCCCCCCCCCCCCCC);
    assert_true(power_table[-1 - POWER_TABLE_FIRST].low == 0xCCCCCCCCCCCCCCCD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_of_any_bits),
        cmocka_unit_test(floats_of_any_bits),
        cmocka_unit_test(decimals_come_back_as_they_were),
        cmocka_unit_test(every_power_of_two),
        cmocka_unit_test(the_table_has_powers_of_ten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
