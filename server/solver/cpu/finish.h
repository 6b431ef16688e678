/* Ends a CPU solve: converts solved tiles to a matrix with permuted rows; computes statistics. */
#pragma once

#include "proto/statistics.h"
#include "server/solver/cpu/tiles.h"

/* Converts the tiles. The first of several ranks passes the matrix; the others pass only its size.
 * STATUS_NO_MEMORY; STATUS_WEIGHT_RANGE if a distance does not fit u2, and then the matrix is
 * undefined. For a u2 matrix, i4 tiles must be stored outside the matrix. */
MUST_CHECK enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                                      const struct cpu_solve_options *options,
                                      struct matrix *matrix);

/* Returns the bytes of memory that cpu_finish_run needs in addition to the matrix. */
uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic);

/* Computes the statistics of a matrix in two passes; the first determines the bins of the
 * histogram, the second fills them. statistics: initialised for the matrix's size and kind or, if
 * the f8 matrix has decimals, for scaled integers with these decimals. The diagonal does not count
 * as a distance. The observer may be NULL. Cannot fail and allocates no memory. */
void cpu_finish_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                           const struct observer *observer, struct statistics *statistics);
