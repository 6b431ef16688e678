/* Parses and prints numbers as text, independent of the locale, for all readers and writers. Pure
 * functions for any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest output of number_print_real and number_print_integer in bytes, without a NUL. */
#define NUMBER_PRINT_SIZE 32

/* Parses an optional sign and digits. False unless all bytes form an int64. */
bool number_parse_integer(const char *bytes, size_t size, int64_t *ret_value);
/* Parses a decimal with optional fraction and exponent, correctly rounded. False unless all bytes
 * form a decimal: inf, nan, hexadecimal numbers and overflow are refused. Underflow gives 0. */
bool number_parse_real(const char *bytes, size_t size, double *ret_value);
/* Parses an integer in canonical form: 0, or an optional '-' and digits without a leading zero. */
bool number_is_canonical_integer(const char *bytes, size_t size, int64_t *ret_value);

/* Prints an integer, without a NUL, and returns the number of bytes written. */
size_t number_print_integer(int64_t value, char buffer[NUMBER_PRINT_SIZE]);
/* Prints the shortest decimal that parses to the same double, or to the same float if `single`, in
 * JSON syntax; integral values are printed without a fraction. value must be finite. */
size_t number_print_real(double value, bool single, char buffer[NUMBER_PRINT_SIZE]);

/* Rounds the value to 9 significant digits, for a duration or a fraction in a document. */
double number_round(double value);

#define NUMBER_DIGITS 17
/* A decimal: digits * 10^exponent, with at most NUMBER_DIGITS digits and without trailing zeros;
 * zero has exponent 0. number_decimal returns the shortest decimal that parses to the value. */
struct number_decimal {
    int64_t digits;
    int exponent;
};
struct number_decimal number_decimal(double value);

/* A double as text for a message, NUL-terminated; infinity is printed as "inf". */
struct number_text {
    char text[NUMBER_PRINT_SIZE + 1];
};
struct number_text number_text(double value);
