#include "proto/decimals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of decimals. With 308, a quotient could be subnormal and lose digits. */
#define DECIMALS_MOST 290

const double decimals_powers[EXACT_POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double power_of_ten(uint32_t decimals)
{
    return decimals < EXACT_POWERS ? decimals_powers[decimals] : pow(10, decimals);
}

/* The integer is below 2^50, so the error of the product is below 0.5, and rint removes it. */
double decimals_multiply(double value, uint32_t decimals)
{
    return rint(value * power_of_ten(decimals));
}

/* A division by an exact power of ten is correctly rounded; for larger powers strtod is used. */
double decimals_divide(double integer, uint32_t decimals)
{
    char text[64];
    if (decimals < EXACT_POWERS || !isfinite(integer)) {
        return integer / power_of_ten(decimals);
    }
    snprintf(text, sizeof(text), "%.0fe-%u", integer, decimals);
    return strtod(text, NULL);
}

uint32_t decimals_count(double value, uint32_t least)
{
    for (uint32_t decimals = least; decimals <= DECIMALS_MOST; decimals++) {
        const double integer = decimals_multiply(value, decimals);
        if (!(fabs(integer) < DECIMALS_LIMIT)) {
            break;
        }
        if (decimals_divide(integer, decimals) == value) {
            return decimals;
        }
    }
    return NO_DECIMALS;
}

/* Adding this number to a double below 2^51 and subtracting it again rounds to the nearest integer.
 * This takes two vector additions, whereas rint() would be a function call. */
#define ROUNDING 6755399441055744.0 /* 1.5 * 2^52 */

void decimals_multiply_all(const double *quotients, uint32_t decimals, size_t count,
                           double *restrict ret_integers)
{
    const double power = power_of_ten(decimals);
    for (size_t i = 0; i < count; i++) {
        ret_integers[i] = (quotients[i] * power + ROUNDING) - ROUNDING;
    }
}

/* Number of elements copied to a buffer before their quotients overwrite them. */
#define RUN 256

union run {
    int32_t i4[RUN];
    double f8[RUN];
};

static void divide_run(const union run *run, enum kind kind, uint32_t decimals, size_t count,
                       double *restrict quotients)
{
    const double power = power_of_ten(decimals);
    if (decimals >= EXACT_POWERS) {
        for (size_t i = 0; i < count; i++) {
            quotients[i] = decimals_divide(kind_element(kind, run, i), decimals);
        }
    } else if (kind == KIND_F8) {
        for (size_t i = 0; i < count; i++) {
            quotients[i] = run->f8[i] / power;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            quotients[i] = run->i4[i] != UNREACHABLE_I4 ? run->i4[i] / power : INFINITY;
        }
    }
}

/* Divides from the end, so that no quotient overwrites a number that is still needed. */
void decimals_divide_all(const void *numbers, enum kind kind, uint32_t decimals, size_t count,
                         double *quotients)
{
    union run run;
    while (count > 0) {
        const size_t length = (count - 1) % RUN + 1;
        count -= length;
        memcpy(&run, (const char *)numbers + count * kind_size(kind), length * kind_size(kind));
        divide_run(&run, kind, decimals, length, quotients + count);
    }
}
