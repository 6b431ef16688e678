"""Makes number_powers.c, the powers of ten with which proto/number.c finds shortest decimals:
number_powers[k - FIRST_POWER] has the high and the low 64 bits of 10^k * 2^(127 - floor(log2(10^k))),
rounded up (Giulietti, "The Schubfach way to render doubles", 2020). Called by Meson:

    number_powers.py number_powers.c"""

import sys

FIRST, LAST = -292, 324


def leading_bits(k):
    """The 128 leading bits of 10^k, rounded up to an integer."""
    high, low = 10 ** max(k, 0), 10 ** max(-k, 0)
    most = 128 - high.bit_length() + low.bit_length()
    candidates = (-(-(high << max(shift, 0)) // (low << max(-shift, 0))) for shift in (most, most - 1))
    return next(bits for bits in candidates if bits.bit_length() == 128)


with open(sys.argv[1], "w", encoding="ascii") as source:
    print('#include "proto/number_powers.h"\n\nconst uint64_t number_powers[][2] = {', file=source)
    for power in range(FIRST, LAST + 1):
        bits = leading_bits(power)
        print(f"    {{{bits >> 64:#018x}, {bits & (1 << 64) - 1:#018x}}},", file=source)
    print("};", file=source)
