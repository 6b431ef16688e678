/* Exact sums of decimals as sums of scaled integers. A double parsed from a decimal with d digits
 * after the point is multiplied by 10^d and rounded to a scaled integer. Pure functions. */
#pragma once

#include "proto/kind.h"

#include <stddef.h>
#include <stdint.h>

/* Returned by decimals_count for values with more digits than DECIMALS_LIMIT allows. */
#define NO_DECIMALS UINT32_MAX
/* Distinct integers below this limit remain distinct doubles after division by a power of ten. */
#define DECIMALS_LIMIT 1125899906842624.0 /* 2^50 */

/* Number of exact powers of ten: 5^22 is below 2^53, so 10^0 to 10^22 are exact doubles. */
#define EXACT_POWERS 23
extern const double decimals_powers[EXACT_POWERS];

/* Returns the number of digits after the decimal point of the shortest decimal that parses to this
 * value, but at least `least`. NO_DECIMALS if the scaled integer is not below DECIMALS_LIMIT. */
uint32_t decimals_count(double value, uint32_t least);
/* Returns value * 10^decimals, an integer if decimals is at least decimals_count(value, 0). */
double decimals_multiply(double value, uint32_t decimals);
/* Returns the double nearest to integer / 10^decimals. */
double decimals_divide(double integer, uint32_t decimals);

/* Applies decimals_multiply to each element; keeps +infinity. The arrays must not overlap. */
void decimals_multiply_all(const double *quotients, uint32_t decimals, size_t count,
                           double *ret_integers);
/* Divides each scaled integer by 10^decimals. They are of kind i4 or f8; unreachable becomes
 * +infinity. The arrays must not overlap, except that both may begin at the same address. */
void decimals_divide_all(const void *numbers, enum kind kind, uint32_t decimals, size_t count,
                         double *quotients);
