/* The shortest decimal that reads back as the same binary float: of all such of the fewest digits
 * the one nearest to it. Raffaello Giulietti, The Schubfach way to render doubles, 2020. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shortest {
    uint64_t digits; /* no trailing zero */
    int exponent;    /* value = digits * 10^exponent */
};

/* value: finite, above 0; single: it is a float's, and is to read back as that float. */
struct shortest shortest_decimal(double value, bool single);
