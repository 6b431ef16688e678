/* Computes the statistics of one row of a distance matrix, and counts the row in the histogram. */
#pragma once

#include "proto/statistics.h"

/* A row is summed in the same order on every back end, so that sums of floats are equal to the last
 * bit. Partial sum p covers the columns j with j mod STATISTICS_LANES = p, ascending. The four sums
 * of a quad (4 q to 4 q + 3) are added as (a + b) + (c + d), the 32 quads of a group by halves
 * (quad q adds quad q + 16, then q + 8, 4, 2, 1), and then the groups in order. */
#define STATISTICS_QUAD 4
#define STATISTICS_GROUP_QUADS 32
#define STATISTICS_GROUPS 8
#define STATISTICS_LANES (STATISTICS_QUAD * STATISTICS_GROUP_QUADS * STATISTICS_GROUPS)

/* Computes the statistics of a row from its distances; *lowest (at most 0) becomes min(*lowest,
 * least distance). kind is the type of the distances: it may be i4 when the statistics are of kind
 * u2, and f8 for decimals. The diagonal is ignored. */
void statistics_reduce_row(struct statistics *statistics, uint32_t row, enum kind kind,
                           const void *distances, double *lowest);
/* Adds a row's distances to the bins set by statistics_lay_bins, and the unreachable vertices to
 * the last element. A distance outside all bins counts in the nearest bin. */
void statistics_count_row(const struct statistics *statistics, uint32_t row, enum kind kind,
                          const void *distances, uint32_t bins[STATISTICS_BINS + 1]);
