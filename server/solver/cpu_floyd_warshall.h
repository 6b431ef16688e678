/* Blocked Floyd-Warshall on the CPU, in place on the n x n matrix: executes a plan. */
#pragma once

#include "proto/matrix.h"
#include "proto/observer.h"
#include "proto/plan.h"
#include "server/solver/cpu_kernel.h"
#include "server/solver/cpu_pool.h"

/* Bytes taken beside the matrix: the packed panels of one step and three tiles. */
uint64_t cpu_floyd_warshall_bytes(uint32_t vertex_count, enum kind kind);

/* matrix: filled with the edges. observer may be NULL; progress is told after each step, cancelled
 * is asked on the calling thread also within a step. On failure the matrix is undefined.
 * STATUS_NEGATIVE_CYCLE, STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_floyd_warshall_run(struct cpu_pool *pool,
                                              const struct cpu_kernel *kernel,
                                              const struct plan *plan, bool clamp_diagonal,
                                              const struct observer *observer,
                                              struct matrix *matrix);
