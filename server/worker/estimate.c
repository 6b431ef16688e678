#include "server/worker/estimate.h"

#include <string.h>

/* Largest vertex limit that is searched for, so that n * n * 8 bytes fit in 64 bits. */
#define VERTEX_LIMIT_CEILING (UINT32_C(1) << 30)
/* The pace is estimated for this number of vertices, so that rounds dominate the solve's time. */
#define PACE_VERTICES 8192

void estimate_solve(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                    uint32_t cost, struct solver_estimate *ret_estimate)
{
    const enum kind computed = cost == COST_DECIMALS ? KIND_I4 : cost_kind(cost);
    const struct solve_options plain = {0};
    *ret_estimate = (struct solver_estimate){0};
    solver->class_->estimate(solver, vertex_count, edge_count, computed, &plain, ret_estimate);
}

/* Returns whether a solve of n vertices and n edges fits the device. A GPU needs free memory,
 * because other processes keep the memory that they use. The host's limit is its total memory,
 * because the limit holds as long as the service runs, and because file cache can be reclaimed; the
 * storage of the result counts too, because the solver uses it. */
static bool fits_device(const struct solver *solver, const struct solver_device *device, uint32_t n,
                        uint32_t cost)
{
    struct solver_estimate estimate;
    size_t matrix_bytes;
    if (matrix_size(n, cost_kind(cost), &matrix_bytes) != STATUS_OK) {
        return false;
    }
    estimate_solve(solver, n, n, cost, &estimate);
    if (strcmp(device->solver, "gpu") == 0) {
        return estimate.device_bytes <= device->memory_free_bytes;
    }
    return estimate.host_bytes <= device->memory_bytes &&
           matrix_bytes <= device->memory_bytes - estimate.host_bytes;
}

void estimate_limits(const struct solver *solver, struct worker_facts *facts)
{
    const double n = PACE_VERTICES;
    for (uint32_t cost = KIND_I4; cost < COST_COUNT; cost++) {
        uint32_t low = 0;
        uint32_t high = VERTEX_LIMIT_CEILING;
        while (low < high) {
            const uint32_t middle = low + (high - low + 1) / 2;
            if (fits_device(solver, &facts->device, middle, cost)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        facts->vertex_limit[cost] = low;
        struct solver_estimate estimate;
        estimate_solve(solver, PACE_VERTICES, PACE_VERTICES, cost, &estimate);
        facts->pace_s[cost] = estimate.seconds > 0 ? estimate.seconds / (n * n * n) : 0;
    }
}
