/* Blocked Floyd-Warshall on the CPU, in place, by the rounds of a plan. Called by the solver's
 * thread; the threads of the pool share the tasks of each round. */
#pragma once

#include "server/solver/cpu/tiles.h"

/* Returns the bytes needed in addition to the matrix: the packed panels of one round and a few
 * tiles. Of a dense plan only the tile count is read. */
uint64_t cpu_floyd_warshall_bytes(uint32_t threads, const struct plan *plan,
                                  enum arithmetic arithmetic);

/* Solves the tiles. tiles: filled with the edges. The observer gets the progress after
 * each round, and is polled for a cancel on the calling thread, also within a round. On failure the
 * matrix is undefined. STATUS_NEGATIVE_CYCLE, STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_floyd_warshall_run(struct cpu_pool *pool,
                                              const struct cpu_kernel *kernel,
                                              const struct cpu_tiles *tiles,
                                              const struct cpu_solve_options *options);
