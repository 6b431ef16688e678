#include "server/worker/estimate.h"

#include "server/solver/host_memory.h"

#include <string.h>

/* Search range of the vertex limit: n * n * 8 of a larger n would leave 64 bits. */
#define VERTEX_LIMIT_CEILING (UINT32_C(1) << 30)
/* Large enough for rounds to be what a solve takes its time for. */
#define PACE_VERTICES 8192

/* Some solvers compute u2 by way of i4: both matrices are in memory then. */
static bool is_narrowed(const struct solver *solver, enum kind kind)
{
    return kind == KIND_U2 && !solver->class_->computes_u2;
}

void estimate_solve(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                    enum kind kind, struct solver_estimate *ret_estimate)
{
    const struct solve_options plain = {0};
    const enum kind computed = is_narrowed(solver, kind) ? KIND_I4 : kind;
    size_t wide_bytes;
    *ret_estimate = (struct solver_estimate){0};
    solver_estimate(solver, vertex_count, edge_count, computed, &plain, ret_estimate);
    if (computed != kind && matrix_size(vertex_count, computed, &wide_bytes) == STATUS_OK) {
        ret_estimate->host_bytes += wide_bytes;
    }
}

enum status estimate_planned(const struct solver *solver, const struct graph *graph, enum kind kind,
                             struct solver_estimate *ret_estimate, struct plan_summary *ret_plan)
{
    struct solver_estimate outline;
    estimate_solve(solver, graph->vertex_count, graph->edge_count, kind, &outline);
    const enum status status = solve_estimate_planned(solver, graph, kind, ret_estimate, ret_plan);
    ret_estimate->host_bytes = outline.host_bytes;
    ret_estimate->device_bytes = outline.device_bytes;
    return status;
}

/* By the memory that the host has and not by what is free of it now: the limit stands for as long
 * as the service runs, and what fills memory at the start is mostly file cache, which gives way.
 * The result's own storage is worked in, so it counts as well. */
static bool fits_host(uint64_t matrix_bytes, uint64_t beside_bytes)
{
    const uint64_t memory_bytes = host_memory_total();
    return beside_bytes <= memory_bytes && matrix_bytes <= memory_bytes - beside_bytes;
}

/* A device, on the other hand, is the service's own: what others hold of it they keep. Only n
 * edges are counted. */
static bool fits(const struct solver *solver, const struct solver_device *gpu, uint32_t n,
                 enum kind kind)
{
    const bool narrowed = is_narrowed(solver, kind);
    const enum kind computed = narrowed ? KIND_I4 : kind;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    size_t matrix_bytes;
    if (matrix_size(n, computed, &matrix_bytes) != STATUS_OK ||
        (narrowed && !fits_host(matrix_bytes, matrix_bytes / 2))) {
        return false;
    }
    solver_estimate(solver, n, n, computed, &plain, &estimate);
    return gpu != NULL ? estimate.device_bytes <= gpu->memory_free_bytes
                       : fits_host(matrix_bytes, estimate.host_bytes);
}

/* The limits on the vertices of a graph, and the pace of large solves. */
void estimate_limits(const struct solver *solver, struct worker_facts *facts)
{
    const bool gpu = strcmp(facts->device.solver, "gpu") == 0;
    const double n = PACE_VERTICES;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        uint32_t low = 0;
        uint32_t high = VERTEX_LIMIT_CEILING;
        while (low < high) {
            const uint32_t middle = low + (high - low + 1) / 2;
            if (fits(solver, gpu ? &facts->device : NULL, middle, kind)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        facts->vertex_limit[kind] = low;
        /* u2 takes the pace of i4, whichever way it comes about. */
        const enum kind computed = kind == KIND_U2 ? KIND_I4 : kind;
        struct solver_estimate estimate;
        estimate_solve(solver, PACE_VERTICES, PACE_VERTICES, computed, &estimate);
        facts->pace_s[kind] = estimate.seconds > 0 ? estimate.seconds / (n * n * n) : 0;
    }
}
