#include "proto/statistics_rows.h"

#include "proto/statistics_kernel.h"

static const struct statistics_operations *const kernels[ISA_COUNT] = {
    [ISA_PORTABLE] = &statistics_kernel_portable,
    [ISA_AVX2] = &statistics_kernel_avx2,
    [ISA_AVX512] = &statistics_kernel_avx512};

void statistics_reduce_row(struct statistics *statistics, uint32_t row, enum kind kind,
                           const void *distances, double *lowest)
{
    kernels[isa_best()]->reduce(statistics, row, kind, distances, lowest);
}

void statistics_count_row(const struct statistics *statistics, uint32_t row, enum kind kind,
                          const void *distances, uint32_t bins[STATISTICS_BINS + 1])
{
    kernels[isa_best()]->count(statistics, row, kind, distances, bins);
}
