/* The GPU's limits: every arithmetic and every copy has one. Exit 77 without a device. */
#include "server/solver/solver.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_SKIPPED 77

int main(void)
{
    char reason[SOLVER_REASON_SIZE];
    struct device_limits limits = {0};
    struct problem problem = {0};
    struct solver *solver = NULL;
    if (solver_gpu_count(reason) == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    if (solver_gpu_open(0, 1, &solver, &problem) != STATUS_OK ||
        solver->class_->measure_limits(solver, &limits) != STATUS_OK) {
        puts("FAILED");
        return EXIT_FAILURE;
    }
    solver_close(solver);
    bool right = limits.copy_bytes_per_s > 0 && limits.upload_bytes_per_s > 0 &&
                 limits.download_bytes_per_s > 0;
    for (int i = 0; i < ARITHMETIC_COUNT; i++) {
        printf("arithmetic %d: %.3g relaxations per second\n", i, limits.relaxations_per_s[i]);
        right = right && limits.relaxations_per_s[i] > 1e9;
    }
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
