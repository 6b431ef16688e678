/* The inner loops of statistics_rows.c, compiled once for each instruction set. */
#pragma once

#include "proto/isa.h"
#include "proto/statistics.h"

/* The implementations of statistics_reduce_row and statistics_count_row for one instruction set. */
struct statistics_operations {
    void (*reduce)(struct statistics *statistics, uint32_t row, enum kind kind,
                   const void *distances, double *lowest);
    void (*count)(const struct statistics *statistics, uint32_t row, enum kind kind,
                  const void *distances, uint32_t bins[STATISTICS_BINS + 1]);
};

extern const struct statistics_operations statistics_kernel_portable;
extern const struct statistics_operations statistics_kernel_avx2;
extern const struct statistics_operations statistics_kernel_avx512;
