/* Peak rates of the processor. */
#pragma once

#include "server/solver/cpu/kernel.h"
#include "server/solver/cpu/pool.h"

/* Measures the peak rates of the processor: chains of relaxations by the kernel's own instructions,
 * and a copy in memory, on all threads of the pool. Takes about a second. STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_limits_measure(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                                          struct device_limits *ret_limits);
