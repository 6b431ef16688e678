/* What a solver's device can do at most, measured beside the solver: the yardsticks of a benchmark.
 *
 * Opened for the device of an open solver and used on its thread, not while it solves. The back
 * ends: probe_cpu.c, always there; probe_gpu.c over gpu/gpu_probe.h, replaced at build time by
 * probe_gpu_absent.c. */
#pragma once

#include "proto/device_figures.h"
#include "server/solver/solver.h"

#include <stddef.h>

struct probe;

struct probe_class {
    enum status (*facts)(struct probe *probe, struct device_facts *ret_facts);
    enum status (*limit)(struct probe *probe, enum arithmetic arithmetic,
                         struct arithmetic_limit *ret_limit);
    enum status (*memory)(struct probe *probe, struct memory_limit *ret_limit);
    /* NULL where the product has one form only. */
    enum status (*sweep_begin)(struct probe *probe, uint32_t n, size_t *ret_count);
    enum status (*sweep_next)(struct probe *probe, size_t index, struct product_figure *ret_figure);
    void (*close)(struct probe *probe);
};

/* Embedded first in each back end's own struct. */
struct probe {
    const struct probe_class *class_;
};

/* For the device that solver_describe tells of. */
MUST_CHECK enum status probe_cpu_open(const struct solver_device *device, struct probe **ret_probe);
MUST_CHECK enum status probe_gpu_open(const struct solver_device *device, struct probe **ret_probe);
MUST_CHECK enum status probe_open(const struct solver *solver, struct probe **ret_probe);
void probe_close(struct probe *probe);

MUST_CHECK enum status probe_facts(struct probe *probe, struct device_facts *ret_facts);
/* All 0 for an arithmetic that the device's solver does not use. */
MUST_CHECK enum status probe_limit(struct probe *probe, enum arithmetic arithmetic,
                                   struct arithmetic_limit *ret_limit);
MUST_CHECK enum status probe_memory(struct probe *probe, struct memory_limit *ret_limit);

/* A sweep over the forms of the min-plus product on n x n, or the next multiple that the device
 * wants: how many forms there are, 0 where the device knows one only. Holds device memory until
 * the probe is closed or the next sweep begins. */
MUST_CHECK enum status probe_sweep_begin(struct probe *probe, uint32_t n, size_t *ret_count);
/* Form index (from 0): compared with a naive product, then timed. STATUS_NOT_VERIFIED when the
 * product is wrong. */
MUST_CHECK enum status probe_sweep_next(struct probe *probe, size_t index,
                                        struct product_figure *ret_figure);
