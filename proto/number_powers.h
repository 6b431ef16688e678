/* Powers of ten for proto/number.c, which number_powers.py generates when the project is built. */
#pragma once

#include <stdint.h>

#define FIRST_POWER (-292)
extern const uint64_t number_powers[][2];
