/* What NVIDIA's driver tells of its devices beside CUDA: load, temperature, power. Its library,
 * libnvidia-ml.so.1, is part of the driver and looked for at run time; without it there is nothing
 * to read. Not limited to the devices that CUDA shows to this process.
 *
 * Owned by one thread: a driver in trouble may keep every call here waiting. */
#pragma once

#include "proto/status.h"

#include <stdint.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"
#define NVML_TEXT_SIZE 96

/* One moment of one device. What it does not tell is below 0. */
struct nvml_reading {
    char name[NVML_TEXT_SIZE];
    char uuid[NVML_TEXT_SIZE];
    double memory_bytes;
    double memory_used_bytes;
    double utilization; /* share of the last moments in which something ran, 0 to 1 */
    double temperature_c;
    double power_w;
    double energy_j; /* since the driver was loaded */
};

struct nvml;

/* STATUS_NO_DEVICE without the library, or when the driver refuses. */
MUST_CHECK enum status nvml_open(const char *library, struct nvml **ret_nvml);
/* NULL is accepted. */
void nvml_close(struct nvml *nvml);
/* Up to limit devices; returns how many were read. */
uint32_t nvml_read(const struct nvml *nvml, struct nvml_reading *ret_readings, uint32_t limit);
