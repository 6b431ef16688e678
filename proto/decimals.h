/* Decimals as integers: a double that a text of few digits was read as stands for that decimal, and
 * times 10^d it is an integer, whose sums are exact. */
#pragma once

#include "proto/kind.h"

#include <stddef.h>
#include <stdint.h>

/* No count of digits: decimals with more digits than a double tells apart. */
#define NO_DECIMALS UINT32_MAX
/* Integers below this are told apart also after they were divided by a power of ten. */
#define DECIMALS_LIMIT 1125899906842624.0 /* 2^50 */

/* 5^22 is below 2^53, so that these powers of ten are exact. */
#define EXACT_POWERS 23
extern const double decimals_powers[EXACT_POWERS];

/* The digits after the point of the decimal that is read as this value, and `least` of them at
 * least; NO_DECIMALS where the integer is not below DECIMALS_LIMIT. */
uint32_t decimals_count(double value, uint32_t least);
/* value * 10^decimals, an integer where decimals_count says so. */
double decimals_multiply(double value, uint32_t decimals);
/* The double nearest to integer / 10^decimals. */
double decimals_divide(double integer, uint32_t decimals);

/* decimals_multiply of each, +infinity where it is. Arrays that do not overlap. */
void decimals_multiply_all(const double *quotients, uint32_t decimals, size_t count,
                           double *ret_integers);
/* Numbers of a kind, i4 or f8, become doubles that are these divided by 10^decimals, +infinity
 * where they are unreachable. Arrays that do not overlap, or begin at the same place. */
void decimals_divide_all(const void *numbers, enum kind kind, uint32_t decimals, size_t count,
                         double *quotients);
