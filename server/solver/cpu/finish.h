/* The last steps of a solve on the CPU: turns solved tiles into the rows of the matrix, and
 * computes statistics. Called by the solver's thread; the threads of the pool share the work. */
#pragma once

#include "proto/statistics.h"
#include "server/solver/cpu/tiles.h"

struct cpu_finish_options {
    bool symmetric; /* only tiles on and below the diagonal were solved: mirror them to the upper
                       half */
    bool drifted;   /* unreachable integers may have drifted: replace them by the canonical value */
    uint32_t decimals; /* decimals of an f8 matrix: integers are divided by 10^decimals; 0 = no
                          division */
    const struct observer *observer; /* receives the progress; or NULL */
};

/* Turns the tiles into the matrix. Of several ranks only the first needs its elements, which are
 * undefined after STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                                      const struct cpu_finish_options *options,
                                      struct matrix *matrix);

/* The bytes that cpu_finish_run needs in addition to the matrix. */
uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic);

/* Computes the statistics of a matrix in two passes. The first pass determines the bins of the
 * histogram, the second counts the entries of each bin.
 *
 * statistics: same size as the matrix; same kind, or u2 for an i4 matrix that will be narrowed, or
 * with the decimals of an f8 matrix. The diagonal does not count as distances. The observer may be
 * NULL. Cannot fail, allocates no memory. */
void cpu_finish_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                           const struct observer *observer, struct statistics *statistics);
