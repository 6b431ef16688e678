/* Replaces solver_gpu.c in a build without CUDA. */
#include "server/solver/solver.h"

#include <stdio.h>

const struct solver_class solver_gpu_class = {.name = "gpu"};

#define REASON "built without CUDA"

uint32_t solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE])
{
    snprintf(ret_reason, SOLVER_REASON_SIZE, REASON);
    return 0;
}

enum status solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                            struct problem *reterr)
{
    (void)first;
    (void)count;
    (void)ret_solver;
    return problem_set(reterr, STATUS_NO_DEVICE, "No GPU can be used: " REASON ".");
}
