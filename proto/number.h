/* Numbers in text, without locale: what the readers accept and the writers print. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest output of number_print_real or number_print_integer, without NUL. */
#define NUMBER_PRINT_SIZE 32

/* An optional sign and digits, all of the bytes; false when it is anything else or leaves int64. */
bool number_parse_integer(const char *bytes, size_t size, int64_t *ret_value);
/* A decimal with optional fraction and exponent, all of the bytes, correctly rounded; false for
 * anything else, for inf, nan, hex and values that overflow. A value too small becomes 0. */
bool number_parse_real(const char *bytes, size_t size, double *ret_value);
/* An integer in its one canonical form: 0, or no leading zero, optionally after '-'. */
bool number_is_canonical_integer(const char *bytes, size_t size, int64_t *ret_value);

/* Returns the count of bytes written, no NUL. */
size_t number_print_integer(int64_t value, char buffer[NUMBER_PRINT_SIZE]);
/* The shortest decimal that reads back as the same double (single: as the same float). JSON
 * syntax; integral values have no fraction. value must be finite. */
size_t number_print_real(double value, bool single, char buffer[NUMBER_PRINT_SIZE]);

/* The value to 9 digits: of a duration or a share, in a document for people. */
double number_round(double value);

#define NUMBER_DIGITS 17
/* That decimal as digits * 10^exponent: at most NUMBER_DIGITS of them, without zeros at the end; 0
 * is 0 * 10^0. */
struct number_decimal {
    int64_t digits;
    int exponent;
};
struct number_decimal number_decimal(double value);

/* The same of any double, for a message: with NUL, and "inf" too. */
struct number_text {
    char text[NUMBER_PRINT_SIZE + 1];
};
struct number_text number_text(double value);
