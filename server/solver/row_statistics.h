/* The statistics of a matrix, reduced on the CPU: two passes over it, the second for the histogram,
 * whose bins the first one finds. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"
#include "server/solver/cpu/pool.h"

/* statistics: of the same size; of the same kind, or u2 of an i4 matrix that is to become one. The
 * diagonal is not read as a distance. Cannot fail, takes no memory. */
void row_statistics_run(struct cpu_pool *pool, const struct matrix *matrix,
                        struct statistics *statistics);
