/* Computes the statistics of rows of distances, and counts the rows in the histogram. */
#pragma once

#include "proto/statistics.h"

/* A row of a matrix is summed in the same order on every back end, so that sums of floats are equal
 * to the last bit. Partial sum p covers the columns j with j mod STATISTICS_LANES = p, ascending.
 * The four sums of a quad (4 q to 4 q + 3) are added as (a + b) + (c + d), the 32 quads of a group
 * by halves (quad q adds quad q + 16, then q + 8, 4, 2, 1), and then the groups in order. */
#define STATISTICS_QUAD 4
#define STATISTICS_GROUP_QUADS 32
#define STATISTICS_GROUPS 8
#define STATISTICS_LANES (STATISTICS_QUAD * STATISTICS_GROUP_QUADS * STATISTICS_GROUPS)

/* Stores the statistics of a row. most: its largest distance, if it reaches another vertex. */
void statistics_put_row(struct statistics *statistics, uint32_t row, double sum, uint32_t reached,
                        double most);

/* Number of rows that a hierarchy computes together: HIERARCHY_LANES. */
#define STATISTICS_ROWS 16

/* Statistics of the rows that a hierarchy computes together, one per lane. Rows and columns are
 * numbered by position in the order of elimination. A lane without a row reaches no vertex. Sums of
 * floats follow the order of the sweep, so their last bits may differ from those of a matrix. */
struct statistics_lanes {
    enum kind kind;    /* kind of the distances */
    bool is_symmetric; /* distances equal those of the reverse pairs */
    uint32_t first;    /* position of the first row */
    double sum[STATISTICS_ROWS];
    double reached[STATISTICS_ROWS];
    double most[STATISTICS_ROWS]; /* initially -infinity */
    double least[STATISTICS_ROWS];
};

/* The inner loops for one instruction set. */
struct statistics_operations {
    /* Computes the statistics of a row from its distances; *lowest (at most 0) becomes min(*lowest,
     * least distance). kind is the type of the distances: it may be i4 when the statistics are of
     * kind u2, and f8 for decimals. The diagonal is ignored. */
    void (*reduce)(struct statistics *statistics, uint32_t row, enum kind kind,
                   const void *distances, double *lowest);
    /* Adds a row's distances to the bins set by statistics_lay_bins, and the unreachable vertices
     * to the last element. A distance outside all bins counts in the nearest bin. */
    void (*count)(const struct statistics *statistics, uint32_t row, enum kind kind,
                  const void *distances, uint32_t bins[STATISTICS_BINS + 1]);
    /* Adds the distances to `count` columns from `column` on, column by column, to the lanes and to
     * the bins. Of symmetric distances, the bins count only those to columns after the row. */
    void (*add)(struct statistics_lanes *lanes, uint32_t column, uint32_t count,
                const void *distances, const struct statistics_summary *summary,
                uint32_t bins[STATISTICS_BINS + 1]);
};

extern const struct statistics_operations statistics_kernel_portable;
extern const struct statistics_operations statistics_kernel_avx2;
extern const struct statistics_operations statistics_kernel_avx512;

/* Returns the loops for the best instruction set of this processor. */
const struct statistics_operations *statistics_kernel(void);
