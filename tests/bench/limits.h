/* Measures the peak rates of a GPU. Benchmarks compare the rates of solves with them. */
#pragma once

#include "proto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Peak rates: relaxations per second with operands in registers, and bytes per second that a copy
 * within device memory reads and writes. */
struct limits {
    double i4_per_s;
    double u2_per_s; /* two 16-bit elements per register */
    double f4_per_s;
    double f8_per_s;
    double copy_bytes_per_s;
};

/* Measures the first device. Takes about 0.3 s and 2 GiB of device memory. Returns
 * STATUS_NO_DEVICE_MEMORY or STATUS_DEVICE_LOST on failure. */
MUST_CHECK enum status limits_measure(struct limits *ret_limits);

#ifdef __cplusplus
}
#endif
