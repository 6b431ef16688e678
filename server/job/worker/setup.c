#include "server/job/worker/setup.h"

#include "server/solver/solve.h"

/* Search range of the vertex limit: n * n * 8 of a larger n would leave 64 bits. */
#define VERTEX_LIMIT_CEILING (UINT32_C(1) << 30)
/* Large enough for rounds to be what a solve takes its time for. */
#define PACE_VERTICES 8192

/* A solver whose limits are looked for. */
struct opened {
    const struct solver *solver;
    bool gpu;
};

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
static bool fits(const struct opened *opened, const struct solver_device *device, uint32_t n,
                 enum kind kind)
{
    size_t matrix_bytes;
    if (matrix_size(n, kind, &matrix_bytes) != STATUS_OK) {
        return false;
    }
    if (!solver_supports(opened->solver, kind)) {
        return fits_host(matrix_bytes, 0);
    }
    const struct solve_options plain = {0};
    struct solver_estimate estimate;
    solver_estimate(opened->solver, n, n, kind, &plain, &estimate);
    if (opened->gpu) {
        return estimate.device_bytes <= device->memory_free_bytes;
    }
    return fits_host(matrix_bytes, estimate.host_bytes);
}

/* u2 by way of i4, in memory of its own. */
static bool fits_narrowed(const struct opened *opened, const struct solver_device *device,
                          uint32_t n)
{
    size_t wide_bytes;
    return matrix_size(n, KIND_I4, &wide_bytes) == STATUS_OK && fits(opened, device, n, KIND_I4) &&
           fits_host(wide_bytes, wide_bytes / 2);
}

static bool is_narrowed(const struct solver *solver, enum kind kind)
{
    return kind == KIND_U2 && !solver_supports(solver, KIND_U2);
}

static uint32_t find_vertex_limit(const struct opened *opened, const struct solver_device *device,
                                  enum kind kind)
{
    uint32_t low = 0;
    uint32_t high = VERTEX_LIMIT_CEILING;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (is_narrowed(opened->solver, kind) ? fits_narrowed(opened, device, middle)
                                              : fits(opened, device, middle, kind)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* u2 takes the pace of i4, whichever way it comes about. */
static double find_pace(const struct opened *opened, enum kind kind)
{
    const double n = PACE_VERTICES;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    const enum kind computed = kind == KIND_U2 ? KIND_I4 : kind;
    if (solver_supports(opened->solver, computed)) {
        solver_estimate(opened->solver, PACE_VERTICES, PACE_VERTICES, computed, &plain, &estimate);
    }
    return estimate.seconds / (n * n * n);
}

/* u2 by way of i4 has both matrices in memory; what the host computes for a device that does not
 * compute this kind has no known pace. */
void worker_setup_estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                           enum kind kind, struct solver_estimate *ret_estimate)
{
    const struct solve_options plain = {0};
    const enum kind computed = is_narrowed(solver, kind) ? KIND_I4 : kind;
    size_t wide_bytes;
    *ret_estimate = (struct solver_estimate){.seconds = -1};
    if (solver_supports(solver, computed)) {
        solver_estimate(solver, vertex_count, edge_count, computed, &plain, ret_estimate);
    }
    if (computed != kind && matrix_size(vertex_count, computed, &wide_bytes) == STATUS_OK) {
        ret_estimate->host_bytes += wide_bytes;
    }
}

enum status worker_setup_estimate_graph(const struct solver *solver, const struct graph *graph,
                                        enum kind kind, struct solver_estimate *ret_estimate,
                                        struct plan_summary *ret_plan)
{
    struct solver_estimate outline;
    worker_setup_estimate(solver, graph->vertex_count, graph->edge_count, kind, &outline);
    if (outline.seconds < 0) {
        *ret_estimate = outline;
        *ret_plan = (struct plan_summary){.work_fraction = 1};
        return STATUS_OK;
    }
    const enum status status = solve_estimate_planned(solver, graph, kind, ret_estimate, ret_plan);
    ret_estimate->host_bytes = outline.host_bytes;
    ret_estimate->device_bytes = outline.device_bytes;
    return status;
}

static enum status open_solver(const struct worker_setup *setup, struct solver **ret_solver,
                               struct worker_facts *facts)
{
    char reason[SOLVER_REASON_SIZE];
    if (!setup->gpu) {
        return solver_cpu_open(&setup->solver, ret_solver, &facts->problem);
    }
    facts->gpu_count = solver_gpu_count(reason);
    if (facts->gpu_count == 0) {
        return problem_set(&facts->problem, STATUS_NO_DEVICE, "%s", reason);
    }
    return solver_gpu_open(setup->gpu_index, ret_solver, &facts->problem);
}

void worker_setup_open(const struct worker_setup *setup, struct solver **ret_solver,
                       struct worker_facts *ret_facts)
{
    *ret_solver = NULL;
    *ret_facts = (struct worker_facts){0};
    ret_facts->status = open_solver(setup, ret_solver, ret_facts);
    if (ret_facts->status != STATUS_OK) {
        return;
    }
    solver_allow_plans(*ret_solver, &setup->solver);
    const struct opened opened = {*ret_solver, setup->gpu};
    solver_describe(opened.solver, &ret_facts->device);
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        ret_facts->vertex_limit[kind] = find_vertex_limit(&opened, &ret_facts->device, kind);
        ret_facts->pace_s[kind] = find_pace(&opened, kind);
    }
}
