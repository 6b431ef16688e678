/* What the driver tells of the GPUs, read by a thread of its own when it is asked for: a driver in
 * trouble keeps that thread waiting and nobody else for longer than MONITOR_WAIT_MS.
 *
 * One of the shared objects: a mutex inside, never held while the driver is asked. Any thread. */
#pragma once

#include "server/job/devices.h"
#include "server/solver/nvml.h"

#define MONITOR_WAIT_MS 250

struct device_monitor;

/* Starts the thread, which loads the library: NVML_LIBRARY, or another in tests. */
MUST_CHECK enum status device_monitor_create(const char *library,
                                             struct device_monitor **ret_monitor);
/* Waits for what is being read. NULL is accepted. */
void device_monitor_destroy(struct device_monitor *monitor);
/* As of now; returns how many there are: none without a driver, or when it does not answer. */
uint32_t device_monitor_read(struct device_monitor *monitor,
                             struct nvml_reading ret_readings[DEVICE_LIMIT]);
