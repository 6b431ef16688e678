/* Prints the peak rates of the first GPU as one JSON object. Exit 77 without a device. */
#include "gpu/gpu.h"
#include "tests/bench/limits.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_SKIPPED 77

int main(void)
{
    char reason[GPU_REASON_SIZE];
    struct limits limits;
    if (gpu_count(reason) == 0) {
        fprintf(stderr, "skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    const enum status status = limits_measure(&limits);
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_limits: %s\n", status_info(status)->title);
        return EXIT_FAILURE;
    }
    printf("{\"relaxations_per_s\":{\"i4\":%.4g,\"u2\":%.4g,\"f4\":%.4g,\"f8\":%.4g},"
           "\"copy_bytes_per_s\":%.4g}\n",
           limits.i4_per_s, limits.u2_per_s, limits.f4_per_s, limits.f8_per_s,
           limits.copy_bytes_per_s);
    return EXIT_SUCCESS;
}
