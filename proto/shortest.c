#include "proto/shortest.h"

#include "proto/power_table.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* c * 2^q, an integer c; is_edge: the next number below is half as far as the next one above. */
struct binary {
    uint64_t c;
    int q;
    bool is_edge;
};

static struct binary split_single(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    const uint32_t fraction = bits & 0x7FFFFF;
    const int exponent = (int)(bits >> 23 & 0xFF);

    if (exponent == 0) {
        return (struct binary){fraction, -149, false};
    }
    return (struct binary){fraction | 0x800000, exponent - 150, fraction == 0 && exponent > 1};
}

static struct binary split_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    const uint64_t fraction = bits & 0xFFFFFFFFFFFFF;
    const int exponent = (int)(bits >> 52 & 0x7FF);

    if (exponent == 0) {
        return (struct binary){fraction, -1074, false};
    }
    return (struct binary){fraction | 0x10000000000000, exponent - 1075,
                           fraction == 0 && exponent > 1};
}

/* floor(log10(2^q)), of 3/4 of it with is_edge, for |q| to 1080. */
static int log10_of_power2(int q, bool is_edge)
{
    return (q * 1262611 - (is_edge ? 524031 : 0)) >> 22;
}

/* floor(log2(10^k)), for |k| to 340. */
static int log2_of_power10(int k)
{
    return k * 1741647 >> 19;
}

/* The high 64 bits of power * factor / 2^64, the last bit set when anything lies below it: so it
 * compares as the exact product would (section 9.9 of the paper). */
static uint64_t multiply(struct power power, uint64_t factor)
{
    const wide low = (wide)power.low * factor;
    const wide high = (wide)power.high * factor + (uint64_t)(low >> 64);

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

/* All in units of 10^k / 4: value, and what still rounds to it, from lower to upper. */
static struct shortest choose(uint64_t value, uint64_t lower, uint64_t upper, int k)
{
    const uint64_t s = value / 4;

    /* One digit less, where one of the two nearest such lies inside; both cannot. */
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

struct shortest shortest_decimal(double value, bool single)
{
    const struct binary binary = single ? split_single((float)value) : split_double(value);
    const int k = log10_of_power2(binary.q, binary.is_edge);
    const int shift = binary.q + log2_of_power10(-k) + 1;
    const struct power power = power_table[-k - POWER_TABLE_FIRST];
    /* An odd number does not win the tie at either end. */
    const uint64_t is_odd = binary.c & 1;
    const uint64_t lower = 4 * binary.c - (binary.is_edge ? 1 : 2);

    return choose(multiply(power, 4 * binary.c << shift), multiply(power, lower << shift) + is_odd,
                  multiply(power, (4 * binary.c + 2) << shift) - is_odd, k);
}
