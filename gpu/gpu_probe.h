/* What the device can do at most, measured: the second C header that leaves this folder, for
 * benchmarks alone. As in gpu.h: valid C17 and C++17, and a struct gpu belongs to its thread.
 *
 * Every function takes its device memory for the call and gives it back. All return
 * STATUS_NO_DEVICE_MEMORY or STATUS_DEVICE_LOST when the device fails. */
#pragma once

#include "gpu/gpu.h"
#include "proto/device_figures.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MUST_CHECK enum status limit_probe_facts(const struct gpu *gpu, struct device_facts *ret_facts);

/* Relaxations in registers only, every multiprocessor full; takes some 0.1 s. */
MUST_CHECK enum status limit_probe_run(const struct gpu *gpu, enum arithmetic arithmetic,
                                       struct arithmetic_limit *ret_limit);

/* A copy kernel within the device's memory, and pinned copies over the bus. */
MUST_CHECK enum status copy_probe_run(const struct gpu *gpu, struct memory_limit *ret_limit);

/* The min-plus product of int32 in every form of a fixed list, over an n x n matrix. Forms are
 * numbered from 0; n is a multiple of SWEEP_MULTIPLE. */
#define SWEEP_MULTIPLE 128
#define SWEEP_DEPTH_MAX 512
size_t sweep_form_count(void);
/* Device bytes that a sweep over n x n takes. */
uint64_t sweep_bytes(uint32_t n);

struct sweep;
MUST_CHECK enum status sweep_open(const struct gpu *gpu, uint32_t n, struct sweep **ret_sweep);
void sweep_close(struct sweep *sweep);
/* Compares one form with a naive product at a small size: STATUS_NOT_VERIFIED when any element
 * differs. */
MUST_CHECK enum status sweep_check(struct sweep *sweep, size_t index);
/* The median of several timed runs after a warm-up. */
MUST_CHECK enum status sweep_measure(struct sweep *sweep, size_t index,
                                     struct product_figure *ret_figure);

#ifdef __cplusplus
}
#endif
