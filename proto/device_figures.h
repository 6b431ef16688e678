/* Measured peak rates of a device, with which a benchmark compares solves. */
#pragma once

#include <stdint.h>

/* The arithmetic of a relaxation, add and minimum, by the type that it runs on. */
enum arithmetic {
    ARITHMETIC_I4 = 0, /* 32-bit integers */
    ARITHMETIC_NARROW, /* pairs of 16-bit integers */
    ARITHMETIC_F4,
    ARITHMETIC_F8,
    ARITHMETIC_COUNT
};

/* Each is the best of several runs; 0 = there is no such thing on this device. */
struct device_limits {
    double relaxations_per_s[ARITHMETIC_COUNT]; /* in registers, with no memory in the way */
    double copy_bytes_per_s;                    /* within its memory: bytes read and written */
    double upload_bytes_per_s;                  /* pinned host memory to device */
    double download_bytes_per_s;                /* device to pinned host memory */
};
