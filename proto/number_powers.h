/* Powers of ten for proto/number.c. number_powers.py generates the table during the build. */
#pragma once

#include <stdint.h>

#define FIRST_POWER (-292)
extern const uint64_t number_powers[][2];
