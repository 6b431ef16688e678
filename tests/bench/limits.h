/* Peak rates of a GPU, with which the rates of solves are compared. */
#pragma once

#include "proto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Relaxations per second that the device can reach in registers, and bytes per second that a copy
 * within its memory reads and writes. */
struct limits {
    double i4_per_s;
    double u2_per_s; /* two 16-bit elements per register */
    double f4_per_s;
    double f8_per_s;
    double copy_bytes_per_s;
};

/* Measures the first device, in about 0.3 s and with 2 GiB of its memory. STATUS_NO_DEVICE_MEMORY,
 * STATUS_DEVICE_LOST. */
MUST_CHECK enum status limits_measure(struct limits *ret_limits);

#ifdef __cplusplus
}
#endif
