#include "proto/statistics_rows.h"

#include "proto/isa.h"

const struct statistics_operations *statistics_kernel(void)
{
    static const struct statistics_operations *const kernels[ISA_COUNT] = {
        [ISA_PORTABLE] = &statistics_kernel_portable,
        [ISA_AVX2] = &statistics_kernel_avx2,
        [ISA_AVX512] = &statistics_kernel_avx512};
    return kernels[isa_best()];
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
