/* The min-plus product C = min(C, A x B) of int32 in every form of a fixed list, over an n x n
 * matrix: n x depth and depth x n operands. Forms are numbered from 0. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWEEP_MULTIPLE 128
#define SWEEP_DEPTH_MAX 512
#define SWEEP_N_MIN 512

struct sweep_form {
    uint32_t tile_rows; /* elements of C per block of threads */
    uint32_t tile_columns;
    uint32_t thread_rows; /* elements of C per thread, in registers */
    uint32_t thread_columns;
    uint32_t slab;  /* pivots that shared memory takes at once */
    uint32_t depth; /* pivots in all */
};

size_t sweep_form_count(void);
struct sweep_form sweep_form_at(size_t index);

/* On the first device. n: a multiple of SWEEP_MULTIPLE from SWEEP_N_MIN on. STATUS_NO_MEMORY,
 * STATUS_NO_DEVICE_MEMORY, STATUS_DEVICE_LOST. */
struct sweep;
MUST_CHECK enum status sweep_open(uint32_t n, struct sweep **ret_sweep);
void sweep_close(struct sweep *sweep);
/* Compares one form with a naive product at a small size: STATUS_NOT_VERIFIED when any element
 * differs. */
MUST_CHECK enum status sweep_check(struct sweep *sweep, size_t index);
/* The median of several timed runs after a warm-up. */
MUST_CHECK enum status sweep_measure(struct sweep *sweep, size_t index, double *ret_seconds);

#ifdef __cplusplus
}
#endif
