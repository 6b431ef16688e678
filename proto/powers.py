"""Writes powers of ten as C: python3 powers.py OUTPUT.

number_powers[k + 292], for k from -292 to 324, has the high and low 64 bits of 10^k, times
2^(127 - floor(log2(10^k))) and rounded up: 128 bits of which the first is 1."""

import sys
from fractions import Fraction

FIRST, LAST = -292, 324


def power_of_ten(k):
    """floor(log2(10^k)) by a product, as number.c has it."""
    scaled = Fraction(10) ** k * Fraction(2) ** (127 - (k * 1741647 >> 19))
    return -(-scaled.numerator // scaled.denominator)


rows = (divmod(power_of_ten(k), 1 << 64) for k in range(FIRST, LAST + 1))
with open(sys.argv[1], "w", encoding="ascii") as output:
    output.write("#include <stdint.h>\nextern const uint64_t number_powers[][2];\n")
    output.write("const uint64_t number_powers[][2] = {\n")
    output.writelines(f"    {{{high:#x}, {low:#x}}},\n" for high, low in rows)
    output.write("};\n")
