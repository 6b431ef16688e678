#include "proto/number.h"

#include "proto/check.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double is decided by at most 767 significant decimal digits and whether more follow. */
#define DIGIT_LIMIT 800
/* Exponents beyond this overflow or vanish whatever the digits of a line are. */
#define EXPONENT_LIMIT 1000000

struct decimal {
    bool negative;
    uint64_t head; /* the first 19 significant digits */
    int head_digits;
    int64_t exponent;  /* value = 0.d1d2d3... * 10^exponent */
    const char *first; /* first significant digit, NULL for zero */
    const char *end;   /* after the last digit of the mantissa */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* So many digits cannot leave an int64. */
#define SAFE_DIGITS 18

/* Nearly every number of a graph file: digits alone, and few of them. */
static bool parse_digits(const char *bytes, size_t size, int64_t *ret_value)
{
    int64_t value = 0;

    for (size_t at = 0; at < size; at++) {
        if (!is_digit(bytes[at])) {
            return false;
        }
        value = value * 10 + (bytes[at] - '0');
    }
    *ret_value = value;
    return true;
}

bool number_parse_integer(const char *bytes, size_t size, int64_t *ret_value)
{
    size_t at = size > 0 && (bytes[0] == '-' || bytes[0] == '+');
    bool negative = at > 0 && bytes[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t value = 0;

    if (at == size) {
        return false;
    }
    if (at == 0 && size <= SAFE_DIGITS) {
        return parse_digits(bytes, size, ret_value);
    }
    for (; at < size; at++) {
        if (!is_digit(bytes[at]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(bytes[at] - '0'), &value) || value > limit) {
            return false;
        }
    }
    *ret_value = (int64_t)(negative ? 0 - value : value);
    return true;
}

bool number_is_canonical_integer(const char *bytes, size_t size, int64_t *ret_value)
{
    size_t at = size > 0 && bytes[0] == '-';

    if (at == size || !is_digit(bytes[at])) {
        return false;
    }
    if (bytes[at] == '0' && size > 1) {
        return false;
    }
    return number_parse_integer(bytes, size, ret_value);
}

/* Digits with at most one point from at on; false when there is no digit. */
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
        if (d->first == NULL && **at != '0') {
            d->first = *at;
        }
        if (d->first == NULL) {
            d->exponent -= fraction;
            continue;
        }
        d->exponent += !fraction;
        if (d->head_digits < 19) {
            d->head = d->head * 10 + (uint64_t)(**at - '0');
            d->head_digits++;
        }
    }
    d->end = *at;
    return any;
}

static bool scan_exponent(const char **at, const char *end, struct decimal *decimal)
{
    int64_t value = 0;
    bool negative;

    if (*at == end || (**at | 0x20) != 'e') {
        return true;
    }
    ++*at;
    negative = *at < end && **at == '-';
    if (*at < end && (**at == '-' || **at == '+')) {
        ++*at;
    }
    if (*at == end || !is_digit(**at)) {
        return false;
    }
    for (; *at < end && is_digit(**at); ++*at) {
        if (value < EXPONENT_LIMIT) {
            value = value * 10 + (**at - '0');
        }
    }
    decimal->exponent += negative ? -value : value;
    return true;
}

/* Exact when the digits fit 53 bits and the power of ten is exact (Clinger 1990). */
static bool convert_quickly(const struct decimal *d, double *ret_value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t power = d->exponent - d->head_digits;

    if (d->head_digits >= 19 || d->head > (1ull << 53) || power < -22 || power > 22) {
        return false;
    }
    *ret_value = power < 0 ? (double)d->head / powers[-power] : (double)d->head * powers[power];
    return true;
}

/* Written anew without a point, so that strtod does not depend on the locale. */
static double convert_slowly(const struct decimal *d)
{
    char buffer[DIGIT_LIMIT + 32];
    size_t count = 0;
    bool more = false;

    for (const char *at = d->first; at < d->end; at++) {
        if (*at == '.') {
            continue;
        }
        if (count < DIGIT_LIMIT) {
            buffer[count++] = *at;
        } else {
            more |= *at != '0';
        }
    }
    if (more) {
        buffer[count - 1] = '1';
    }
    snprintf(buffer + count, sizeof buffer - count, "e%" PRId64, d->exponent - (int64_t)count);
    return strtod(buffer, NULL);
}

bool number_parse_real(const char *bytes, size_t size, double *ret_value)
{
    const char *end = bytes + size;
    const char *at = bytes;
    struct decimal decimal = {0};
    double value = 0;

    if (at < end && (*at == '-' || *at == '+')) {
        decimal.negative = *at++ == '-';
    }
    if (!scan_mantissa(&at, end, &decimal) || !scan_exponent(&at, end, &decimal) || at != end) {
        return false;
    }
    if (decimal.first != NULL && !convert_quickly(&decimal, &value)) {
        value = convert_slowly(&decimal);
    }
    if (isinf(value)) {
        return false;
    }
    *ret_value = decimal.negative ? -value : value;
    return true;
}

size_t number_print_integer(int64_t value, char buffer[NUMBER_PRINT_SIZE])
{
    char digits[NUMBER_PRINT_SIZE];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t count = 0;
    size_t size = 0;

    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        buffer[size++] = '-';
    }
    while (count > 0) {
        buffer[size++] = digits[--count];
    }
    return size;
}

static bool reads_back(const char *text, double value, bool single)
{
    if (single) {
        return strtof(text, NULL) == (float)value;
    }
    return strtod(text, NULL) == value;
}

size_t number_print_real(double value, bool single, char buffer[NUMBER_PRINT_SIZE])
{
    double smallest_normal = single ? (double)FLT_MIN : DBL_MIN;
    int precision = single ? FLT_DIG : DBL_DIG;
    int longest = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    int size;

    CHECK(isfinite(value));
    if (fabs(value) < 1e15 && value == trunc(value)) {
        return number_print_integer((int64_t)value, buffer);
    }
    /* Subnormals carry fewer digits; others cannot do with fewer than %g strips by itself. */
    if (fabs(value) < smallest_normal) {
        precision = 1;
    }
    do {
        size = snprintf(buffer, NUMBER_PRINT_SIZE, "%.*g", precision, value);
        precision++;
    } while (precision <= longest && !reads_back(buffer, value, single));
    return (size_t)size;
}
