#include "proto/number.h"
#include "tests/lib/test.h"

#include <math.h>

static bool integer_is(const char *text, int64_t wanted)
{
    int64_t value = ~wanted;

    return number_parse_integer(text, strlen(text), &value) && value == wanted;
}

static bool is_no_integer(const char *text)
{
    return !number_parse_integer(text, strlen(text), &(int64_t){0});
}

TEST(integers_are_read_exactly)
{
    assert_true(integer_is("0", 0) && integer_is("-12", -12) && integer_is("+007", 7));
    assert_true(integer_is("9223372036854775807", INT64_MAX));
    assert_true(integer_is("-9223372036854775808", INT64_MIN));
    assert_true(is_no_integer("9223372036854775808") && is_no_integer("-9223372036854775809"));
    assert_true(is_no_integer("") && is_no_integer("-") && is_no_integer("1 ") &&
                is_no_integer("1.0"));
}

TEST(only_the_canonical_form_of_an_integer_is_accepted)
{
    static const char *const others[] = {"", "-", "00", "-0", "+1", "01", "-01", "1a"};
    int64_t value;

    assert_true(number_is_canonical_integer("0", 1, &value) && value == 0);
    assert_true(number_is_canonical_integer("-10", 3, &value) && value == -10);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(number_is_canonical_integer(others[i], strlen(others[i]), &value));
    }
}

TEST(reals_are_parsed_as_by_strtod)
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

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value;

        assert_true(number_parse_real(texts[i], strlen(texts[i]), &value));
        assert_true(value == strtod(texts[i], NULL));
    }
}

TEST(malformed_and_infinite_numbers_are_refused)
{
    static const char *const texts[] = {"",    "-",    ".",   "e5",    "1e", "1e+",   "inf",
                                        "nan", "0x10", "1,5", "1.2.3", " 1", "1e400", "-1e400"};

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

TEST(reals_are_printed_in_their_shortest_form)
{
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

TEST(printed_reals_survive_a_round_trip)
{
    uint64_t seed = 1;

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

TEST(integers_are_printed_exactly)
{
    char buffer[NUMBER_PRINT_SIZE];

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

#define DRAWS 60000

struct shortest {
    uint64_t digits; /* digits without trailing zeros */
    int exponent;
};

/* Splits a positive number that printf or number_print_real printed into digits and exponent. */
static struct shortest digits_of(const char *text)
{
    struct shortest found = {0, 0};
    const char *point = NULL;
    const char *at = text;

    for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
        if (*at == '.') {
            point = at + 1;
        } else {
            found.digits = found.digits * 10 + (uint64_t)(*at - '0');
        }
    }
    found.exponent = point == NULL ? 0 : (int)(point - at);
    found.exponent += *at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0;
    while (found.digits % 10 == 0) {
        found.digits /= 10;
        found.exponent++;
    }
    return found;
}

static struct shortest printed(double value, bool single)
{
    char text[NUMBER_PRINT_SIZE + 1];

    text[number_print_real(value, single, text)] = '\0';
    return digits_of(text);
}

/* Returns the shortest text of printf that strtod reads back as the same number. Tries one
 * precision after another. */
static struct shortest by_trying(double value, bool single)
{
    char text[64];
    int precision = 0;

    do {
        snprintf(text, sizeof text, "%.*e", precision++, value);
    } while (single ? strtof(text, NULL) != (float)value : strtod(text, NULL) != value);

    return digits_of(text);
}

/* Compares number_print_real with printf. The result of printf may not be the shortest near a power
 * of two, because printf rounds to the nearest decimal, but a shorter decimal farther away may read
 * back as the same number. */
static void expect(double value, bool single)
{
    const struct shortest found = printed(value, single);
    const struct shortest tried = by_trying(value, single);
    char text[64];

    snprintf(text, sizeof text, "%llue%d", (unsigned long long)found.digits, found.exponent);
    assert_true(single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value);
    assert_true(found.digits % 10 != 0);
    /* Integers below 10^15 are printed with all of their digits. */
    if ((value >= 1e15 || value != trunc(value)) &&
        (found.digits != tried.digits || found.exponent != tried.exponent)) {
        assert_true(found.digits < tried.digits);
    }
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

TEST(random_doubles_are_printed_in_their_shortest_form)
{
    uint64_t seed = 1;

    for (int i = 0; i < DRAWS; i++) {
        const uint64_t bits = draw(&seed) & INT64_MAX;
        double value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            expect(value, false);
        }
    }
}

TEST(random_floats_are_printed_in_their_shortest_form)
{
    uint64_t seed = 2;

    for (int i = 0; i < DRAWS; i++) {
        const uint32_t bits = (uint32_t)(draw(&seed) >> 32) & INT32_MAX;
        float value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value > 0) {
            expect((double)value, true);
        }
    }
}

TEST(decimals_survive_a_round_trip)
{
    uint64_t seed = 3;

    for (int i = 0; i < DRAWS; i++) {
        const uint64_t digits = draw(&seed) % 1000000 | 1;
        const struct shortest single = printed((double)((float)digits / 1000), true);
        const struct shortest found = printed((double)digits / 1000, false);

        if (digits % 10 != 0) {
            assert_true(found.digits == digits && found.exponent == -3);
            assert_true(single.digits == digits && single.exponent == -3);
        }
    }
}

TEST(every_power_of_two_is_printed_in_its_shortest_form)
{
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
