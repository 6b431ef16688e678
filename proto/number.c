#include "proto/number.h"

#include "proto/decimals.h"
#include "proto/number_powers.h"
#include "proto/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum length in bytes of a number that is accepted. */
#define NUMBER_LIMIT 4096
/* Number of decimal digits that always fit in 64 bits. */
#define HEAD_DIGITS 19

struct decimal {
    uint64_t head; /* leading significant digits */
    int head_digits;
    int64_t exponent; /* value = head * 10^exponent if no digits were dropped */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool number_parse_integer(const char *bytes, size_t size, int64_t *ret_value)
{
    size_t at = size > 0 && (bytes[0] == '-' || bytes[0] == '+');
    const bool negative = at > 0 && bytes[0] == '-';
    const uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t value = 0;

    while (at + 1 < size && bytes[at] == '0') {
        at++;
    }
    if (at == size || size - at > HEAD_DIGITS) {
        return false;
    }
    for (; at < size; at++) {
        if (!is_digit(bytes[at])) {
            return false;
        }
        value = value * 10 + (uint64_t)(bytes[at] - '0');
    }
    if (value > limit) {
        return false;
    }
    *ret_value = (int64_t)(negative ? 0 - value : value);
    return true;
}

bool number_is_canonical_integer(const char *bytes, size_t size, int64_t *ret_value)
{
    size_t at = size > 0 && bytes[0] == '-';

    return at < size && is_digit(bytes[at]) && (bytes[at] != '0' || size == 1) &&
           number_parse_integer(bytes, size, ret_value);
}

/* Scans digits with at most one decimal point. Returns false if there is no digit. */
static bool scan_mantissa(const char **at, const char *end, struct decimal *ret_decimal)
{
    struct decimal *d = ret_decimal;
    bool any = false;
    bool fraction = false;

    for (; *at < end && (is_digit(**at) || (**at == '.' && !fraction)); ++*at) {
        if (**at == '.') {
            fraction = true;
            continue;
        }
        any = true;
        d->exponent -= fraction;
        if (d->head_digits < HEAD_DIGITS && (d->head_digits > 0 || **at != '0')) {
            d->head = d->head * 10 + (uint64_t)(**at - '0');
            d->head_digits++;
        } else if (d->head_digits == HEAD_DIGITS) {
            d->head = UINT64_MAX; /* marks the value as truncated */
        }
    }
    return any;
}

static bool scan_exponent(const char **at, const char *end, struct decimal *decimal)
{
    int64_t value = 0;

    if (*at == end || (**at | 0x20) != 'e') {
        return true;
    }
    ++*at;
    const bool negative = *at < end && **at == '-';
    if (*at < end && (**at == '-' || **at == '+')) {
        ++*at;
    }
    if (*at == end || !is_digit(**at)) {
        return false;
    }
    for (; *at < end && is_digit(**at); ++*at) {
        if (value < NUMBER_LIMIT) {
            value = value * 10 + (**at - '0');
        }
    }
    decimal->exponent += negative ? -value : value;
    return true;
}

/* Parses a number with strtod, which expects a point because this program sets no locale. This is a
 * separate function because of its large buffer. */
static __attribute__((noinline)) bool parse_long(const char *bytes, size_t size, double *ret_value)
{
    char text[NUMBER_LIMIT];

    memcpy(text, bytes, size);
    text[size] = '\0';
    const double value = strtod(text, NULL);
    if (isinf(value)) {
        return false;
    }
    *ret_value = value;
    return true;
}

/* If the digits fit in 53 bits and the power of ten is exact, one multiplication or division rounds
 * correctly, so strtod is not needed (Clinger 1990). */
bool number_parse_real(const char *bytes, size_t size, double *ret_value)
{
    const char *end = bytes + size;
    const char *at = bytes + (size > 0 && (bytes[0] == '-' || bytes[0] == '+'));
    struct decimal d = {0};

    if (!scan_mantissa(&at, end, &d) || !scan_exponent(&at, end, &d) || at != end ||
        size >= NUMBER_LIMIT) {
        return false;
    }
    if (d.head > (1ull << 53) || d.exponent <= -EXACT_POWERS || d.exponent >= EXACT_POWERS) {
        return parse_long(bytes, size, ret_value);
    }
    const double value = d.exponent < 0 ? (double)d.head / decimals_powers[-d.exponent]
                                        : (double)d.head * decimals_powers[d.exponent];
    *ret_value = bytes[0] == '-' ? -value : value;
    return true;
}

/* ---- These functions find the shortest decimal that parses to a float; if there are several, the
 * nearest to the float (Raffaello Giulietti, The Schubfach way to render doubles, 2020). ---- */

__extension__ typedef unsigned __int128 wide;

struct shortest {
    uint64_t digits; /* digits without trailing zeros */
    int exponent;    /* value = digits * 10^exponent */
};

/* Returns the high 64 bits of power * factor / 2^64. The last bit is also set when any lower bit is
 * set, so the result compares like the exact product (section 9.9 of Giulietti 2020). */
static uint64_t multiply_power(const uint64_t power[2], uint64_t factor)
{
    const wide low = (wide)power[1] * factor;
    const wide high = (wide)power[0] * factor + (uint64_t)(low >> 64);

    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static struct shortest strip_zeros(uint64_t digits, int exponent)
{
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (struct shortest){digits, exponent};
}

/* Chooses the shortest decimal in [lower, upper], the interval of numbers that round to value.
 * value, lower and upper are in units of 10^k / 4. */
static struct shortest choose_shortest(uint64_t value, uint64_t lower, uint64_t upper, int k)
{
    const uint64_t s = value / 4;

    /* Prefer one digit fewer. At most one of the two nearest such decimals is in the interval. */
    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool below = lower <= 40 * tens;
        const bool above = 40 * tens + 40 <= upper;

        if (below != above) {
            return strip_zeros(tens + above, k + 1);
        }
    }
    const bool below = lower <= 4 * s;
    const bool above = 4 * s + 4 <= upper;

    if (below != above) {
        return strip_zeros(s + above, k);
    }
    const uint64_t middle = 4 * s + 2;

    return strip_zeros(s + (value > middle || (value == middle && s % 2 == 1)), k);
}

/* Finds the shortest decimal of a finite value above 0. single: value is a float and the decimal
 * must parse to the same float. */
static struct shortest find_shortest(double value, bool single)
{
    const int fraction_bits = single ? 23 : 52;
    const float narrow = (float)value;
    uint32_t narrow_bits;
    uint64_t bits;

    memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
    memcpy(&bits, &value, sizeof(bits));
    bits = single ? narrow_bits : bits;
    const uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    const int exponent = (int)(bits >> fraction_bits);
    /* value = c * 2^q with an integer c; subnormal numbers have no leading 1. */
    const uint64_t c = exponent == 0 ? fraction : fraction | UINT64_C(1) << fraction_bits;
    const int q = (exponent == 0 ? 1 : exponent) - (single ? 150 : 1075);
    /* Below a power of two, the next float is half as far away as above it. */
    const bool is_edge = fraction == 0 && exponent > 1;
    /* k = floor(log10(2^q)), or floor(log10(3/4 * 2^q)) at a power of two; exact for |q| <= 1080.
     * shift contains floor(log2(10^-k)), exact for |k| <= 340. The constants are log10(2) and
     * log10(4/3), multiplied by 2^22, and log2(10), multiplied by 2^19. */
    const int k = (q * 1262611 - (is_edge ? 524031 : 0)) >> 22;
    const int shift = q + (-k * 1741647 >> 19) + 1;
    const uint64_t *power = number_powers[-k - FIRST_POWER];
    /* Ties round to even, so the interval includes its bounds only if c is even. */
    const uint64_t is_odd = c & 1;
    const uint64_t lower = 4 * c - (is_edge ? 1 : 2);

    return choose_shortest(multiply_power(power, 4 * c << shift),
                           multiply_power(power, lower << shift) + is_odd,
                           multiply_power(power, (4 * c + 2) << shift) - is_odd, k);
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static size_t count_digits(uint64_t value)
{
    size_t count = 1;

    for (uint64_t limit = 10; value >= limit; limit *= 10) {
        if (++count == 20) {
            break;
        }
    }
    return count;
}

/* Prints value with exactly `count` digits. value must not have more digits. */
static void put_digits(uint64_t value, size_t count, char *to)
{
    while (count >= 2) {
        count -= 2;
        memcpy(to + count, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (count == 1) {
        to[0] = (char)('0' + value % 10);
    }
}

size_t number_print_integer(int64_t value, char buffer[NUMBER_PRINT_SIZE])
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const size_t count = count_digits(magnitude);
    const size_t sign = value < 0;

    buffer[0] = '-';
    put_digits(magnitude, count, buffer + sign);
    return sign + count;
}

/* Scientific notation is used if the exponent of the first digit is outside this range. */
#define LEAST_PLAIN (-4)
#define MOST_PLAIN 16

/* Prints d.ddde+XX; first is the exponent of the first digit. */
static size_t put_exponent(uint64_t digits, size_t count, int first, char *to)
{
    const uint64_t magnitude = (uint64_t)(first < 0 ? -first : first);
    const size_t exponent_digits = magnitude < 100 ? 2 : 3;
    size_t size = 1;

    put_digits(digits, count, to + 1);
    to[0] = to[1];
    if (count > 1) {
        to[1] = '.';
        size = count + 1;
    }
    to[size++] = 'e';
    to[size++] = first < 0 ? '-' : '+';
    put_digits(magnitude, exponent_digits, to + size);
    return size + exponent_digits;
}

/* Prints 0.000ddd if the exponent of the first digit is negative, otherwise ddd.ddd or ddd000. */
static size_t put_plain(uint64_t digits, size_t count, int first, char *to)
{
    const size_t before = first < 0 ? 0 : (size_t)first + 1;
    const size_t zeros = first < 0 ? (size_t)-first : 0;

    if (first < 0) {
        memset(to, '0', zeros + 1);
        to[1] = '.';
        put_digits(digits, count, to + 1 + zeros);
        return 1 + zeros + count;
    }
    put_digits(digits, count, to);
    if (before >= count) {
        memset(to + count, '0', before - count);
        return before;
    }
    memmove(to + before + 1, to + before, count - before);
    to[before] = '.';
    return count + 1;
}

size_t number_print_real(double value, bool single, char buffer[NUMBER_PRINT_SIZE])
{
    size_t size = 0;

    CHECK(isfinite(value));
    if (fabs(value) < 1e15 && value == trunc(value)) {
        return number_print_integer((int64_t)value, buffer);
    }
    const struct shortest shortest = find_shortest(fabs(value), single);
    const size_t count = count_digits(shortest.digits);
    const int first = (int)count - 1 + shortest.exponent;

    if (value < 0) {
        buffer[size++] = '-';
    }
    if (first < LEAST_PLAIN || first > MOST_PLAIN) {
        return size + put_exponent(shortest.digits, count, first, buffer + size);
    }
    return size + put_plain(shortest.digits, count, first, buffer + size);
}

struct number_decimal number_decimal(double value)
{
    if (value == 0) {
        return (struct number_decimal){0};
    }
    const struct shortest shortest = find_shortest(fabs(value), false);
    const int64_t digits = (int64_t)shortest.digits;
    return (struct number_decimal){value < 0 ? -digits : digits, shortest.exponent};
}

double number_round(double value)
{
    char text[NUMBER_PRINT_SIZE];
    snprintf(text, sizeof(text), "%.9g", value);
    return strtod(text, NULL);
}

struct number_text number_text(double value)
{
    struct number_text number = {{0}};
    if (isfinite(value)) {
        number_print_real(value, false, number.text);
    } else {
        snprintf(number.text, sizeof(number.text), "%f", value);
    }
    return number;
}
