/* Blocked Floyd-Warshall on the CPU: in place, by the rounds of the plan. */
#pragma once

#include "server/solver/cpu/tiles.h"

struct cpu_floyd_warshall_options {
    bool symmetric; /* compute tiles on and below the diagonal only */
    bool negative;  /* some weight is below 0 */
};

/* Bytes taken beside the matrix: the packed panels of one round and a few tiles. Of a dense plan
 * nothing but the tile count is read. */
uint64_t cpu_floyd_warshall_bytes(uint32_t threads, const struct plan *plan,
                                  enum arithmetic arithmetic);

/* tiles: filled with the edges. observer may be NULL; progress is told after each round, cancelled
 * is asked on the calling thread also within a round. On failure the matrix is undefined.
 * STATUS_NEGATIVE_CYCLE, STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_floyd_warshall_run(struct cpu_pool *pool,
                                              const struct cpu_kernel *kernel,
                                              const struct cpu_tiles *tiles,
                                              const struct cpu_floyd_warshall_options *options,
                                              const struct observer *observer);
