/* The end of a solve on the CPU: from solved tiles to distances row by row, and statistics. */
#pragma once

#include "proto/statistics.h"
#include "server/solver/cpu/tiles.h"

struct cpu_finish_options {
    bool symmetric;    /* only tiles on and below the diagonal were solved: mirror them */
    bool drifted;      /* integers may have drifted below unreachable: make them canonical */
    uint32_t decimals; /* of an f8 matrix: integers become it divided by 10^decimals; 0: none do */
    const struct observer *observer; /* hears how far it is; or NULL */
};

/* The first of several ranks gets the matrix, which the others know by its size alone.
 * STATUS_NO_MEMORY, and STATUS_WEIGHT_RANGE if a distance does not fit u2; the elements of the
 * matrix are then undefined. u2 from i4 needs tiles beside the matrix. */
MUST_CHECK enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                                      const struct cpu_finish_options *options,
                                      struct matrix *matrix);

/* The bytes that takes beside the matrix. */
uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic);

/* The statistics of a matrix, reduced on the CPU: two passes over it, the second for the histogram,
 * whose bins the first one finds.
 *
 * statistics: of the same size and kind, or with the decimals of an f8 matrix. The diagonal is not
 * read as a distance. The observer may be NULL. Cannot fail, takes no memory. */
void cpu_finish_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                           const struct observer *observer, struct statistics *statistics);
