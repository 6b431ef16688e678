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

void statistics_add_lanes(struct statistics_lanes *lanes, uint32_t column, uint32_t count,
                          const void *distances, const struct statistics_summary *summary,
                          uint32_t bins[STATISTICS_BINS + 1])
{
    kernels[isa_best()]->add(lanes, column, count, distances, summary, bins);
}

/* Adding 0.0 turns -0 into 0, so the result does not depend on the order of 0 and -0. */
void statistics_put_row(struct statistics *statistics, uint32_t row, double sum, uint32_t reached,
                        double most)
{
    statistics->eccentricity[row] = reached > 0 ? most + 0.0 : 0.0;
    statistics->reachable[row] = reached;
    if (kind_is_float(statistics->kind)) {
        statistics->distance_sum[row].real = sum;
    } else {
        statistics->distance_sum[row].integer = (int64_t)sum;
    }
}
