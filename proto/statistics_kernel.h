/* The inner loops of statistics_rows.c, compiled once for each instruction set. */
#pragma once

#include "proto/isa.h"
#include "proto/statistics_rows.h"

/* The implementations of the functions of statistics_rows.h for one instruction set. */
struct statistics_operations {
    void (*reduce)(struct statistics *statistics, uint32_t row, enum kind kind,
                   const void *distances, double *lowest);
    void (*count)(const struct statistics *statistics, uint32_t row, enum kind kind,
                  const void *distances, uint32_t bins[STATISTICS_BINS + 1]);
    void (*add)(struct statistics_lanes *lanes, uint32_t column, uint32_t count,
                const void *distances, const struct statistics_summary *summary,
                uint32_t bins[STATISTICS_BINS + 1]);
};

extern const struct statistics_operations statistics_kernel_portable;
extern const struct statistics_operations statistics_kernel_avx2;
extern const struct statistics_operations statistics_kernel_avx512;
