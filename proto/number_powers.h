/* Powers of ten, which number_powers.py makes for proto/number.c when the project is built. */
#pragma once

#include <stdint.h>

#define FIRST_POWER (-292)
extern const uint64_t number_powers[][2];
