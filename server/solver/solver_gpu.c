/* The GPU back end: implements solver.h on top of gpu/gpu.h. */
#include "gpu/gpu.h"
#include "server/solver/cpu/pool.h"
#include "server/solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SOLVER_REASON_SIZE == GPU_REASON_SIZE, "the reason is passed through");

/* Peak number of relaxations per clock and multiprocessor, which is the same for the fused
 * instruction as for an addition and a minimum, and the fraction of this peak that is assumed until
 * the first large solve. */
#define RELAXATIONS_PER_CLOCK 64.0
#define ASSUMED_EFFICIENCY 0.8
/* Number of vertices from which a solve measures the rate: launches dominate smaller solves. */
#define MEASURED_VERTICES_MIN 2048
/* Seconds of the shortest possible round, a chain of dependent launches and pivots. */
#define ROUND_SECONDS_MIN 40e-6
/* Assumed rate of copying a result to the host, through pinned memory into the pages of a file,
 * until a large result has been measured. On an H200: 16e9 under a plan that leaves no time to
 * fault in the pages, 49e9 if the pages exist. */
#define DOWNLOAD_BYTES_PER_SECOND 20e9
#define MEASURED_BYTES_MIN ((double)(64 << 20))

/* Costs of a planned round, measured on an H200. ROUND_S: seconds of three launches and of the
 * partly filled ends of their grids. BYTES: bytes of device memory moved per clock and
 * multiprocessor. DEPTH_STEP: pivots that the kernels compute at a time. EDGE_STEP: step to which
 * the model rounds up the rows and columns of a tile. A warp covers 16 rows and 32 words, and skips
 * them only if all are padding; 32 is a compromise for rows and columns. */
#define PLAN_ROUND_S 25e-6
#define PLAN_BYTES_PER_CLOCK 16.0
#define PLAN_DEPTH_STEP 4
#define PLAN_EDGE_STEP 32

struct solver_gpu {
    struct solver solver;
    struct gpu *gpu;
    struct gpu_device device; /* device at the time of opening */
    uint32_t index;           /* index of the first device */
    uint32_t members;         /* devices or ranks that solve together */
    bool by_ranks;            /* the members are ranks */
    bool by_nccl;             /* the ranks exchange panels by NCCL */
};

static void describe_device(const struct solver *solver, struct solver_device *ret_device)
{
    const struct solver_gpu *self = (const struct solver_gpu *)solver;
    memset(ret_device, 0, sizeof(*ret_device));
    snprintf(ret_device->solver, sizeof(ret_device->solver), "gpu");
    if (self->members > 1) {
        snprintf(ret_device->name, sizeof(ret_device->name), "%u x %.48s", self->members,
                 self->device.name);
    } else {
        snprintf(ret_device->name, sizeof(ret_device->name), "%s", self->device.name);
    }
    const char *ranks = self->by_nccl ? ", ranks by NCCL" : self->by_ranks ? ", ranks by MPI" : "";
    snprintf(ret_device->detail, sizeof(ret_device->detail), "compute capability %u.%u%s",
             self->device.capability_major, self->device.capability_minor, ranks);
    ret_device->index = self->index;
    ret_device->memory_bytes = self->device.memory_bytes;
    ret_device->memory_free_bytes = self->device.memory_free_bytes;
    ret_device->units = self->members * self->device.multiprocessors;
    ret_device->members = self->by_ranks ? 1 : self->members; /* ranks may be on other hosts */
}

/* Returns the number of devices that solve a graph of this size by the dense plan. In a model, the
 * number comes from another process, which may be faulty. */
#define MEMBERS_MAX 65536
static uint32_t members_for(const struct solver_gpu *self, uint32_t vertex_count)
{
    const bool valid = self->members > 0 && self->members <= MEMBERS_MAX;
    return valid && vertex_count >= GPU_GROUP_VERTICES ? self->members : 1;
}

static double compute_seconds(const struct solver_gpu *self, uint32_t vertex_count, enum kind kind,
                              const struct solve_options *options)
{
    const double rounds = ceil((double)vertex_count / GPU_TILE);
    const double rate = self->solver.rates[solver_arithmetic(kind, options)];
    const double by_rate =
        solver_relaxations(vertex_count, options) / (rate * members_for(self, vertex_count));
    const double by_chain = rounds * ROUND_SECONDS_MIN;
    return by_rate > by_chain ? by_rate : by_chain;
}

static void estimate_solve(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                           enum kind kind, const struct solve_options *options,
                           struct solver_estimate *ret_estimate)
{
    const struct solver_gpu *self = (const struct solver_gpu *)solver;
    const double n = vertex_count;
    ret_estimate->device_bytes =
        gpu_bytes_needed(members_for(self, vertex_count), vertex_count, edge_count, kind);
    ret_estimate->host_bytes = 0;
    ret_estimate->finish_s = n * n * (double)kind_size(kind) / solver->rates[RATE_DOWNLOAD];
    ret_estimate->seconds =
        compute_seconds(self, vertex_count, kind, options) + ret_estimate->finish_s;
}

static void plan_cost(const struct solver *solver, const struct graph *graph, enum kind kind,
                      const struct solve_options *options, struct plan_cost *ret_cost)
{
    const struct solver_gpu *self = (const struct solver_gpu *)solver;
    const double clock_hz = 1e6 * self->device.clock_mhz;
    const double element_bytes = kind == KIND_F8 ? 8 : options->narrow ? 2 : 4;
    const double tile_bytes = 2 * element_bytes * GPU_TILE * GPU_TILE;
    const double products = (double)GPU_TILE * GPU_TILE * GPU_TILE;
    /* Relaxations per clock of one multiprocessor, as measured in the dense interior phase. */
    const double pace = kind == KIND_F8 ? 28 : kind == KIND_F4 ? 64 : options->narrow ? 116 : 60;
    *ret_cost =
        (struct plan_cost){.tile = GPU_TILE,
                           .threads = cpu_pool_cores(),
                           .units = self->device.multiprocessors,
                           .granule = PLAN_DEPTH_STEP,
                           .edge_granule = PLAN_EDGE_STEP,
                           .round_s = PLAN_ROUND_S,
                           .product_s = products / (pace * clock_hz),
                           .touch_s = tile_bytes / (PLAN_BYTES_PER_CLOCK * clock_hz),
                           .dense_s = compute_seconds(self, graph->vertex_count, kind, options),
                           .separator_s = PLAN_SEPARATOR_S};
}

static bool fits_device(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                        enum kind kind)
{
    const struct solver_gpu *self = (const struct solver_gpu *)solver;
    return gpu_plan_bytes(plan, edge_count, kind) <= gpu_free_bytes(self->gpu);
}

static enum status solve_on_device(struct solver *solver, const struct graph *graph,
                                   const struct plan *plan, const struct solve_options *options,
                                   const struct observer *observer, struct matrix *matrix,
                                   struct solve_account *account)
{
    struct solver_gpu *self = (struct solver_gpu *)solver;
    const uint32_t n = plan->vertex_count;
    const enum kind kind = solve_computed_kind(options, matrix->kind);
    const double bytes = (double)n * n * (double)kind_size(kind);
    const struct timings before = account->timings;
    STATUS_TRY(gpu_solve(self->gpu, graph, plan, options, observer, matrix, account));
    /* Only dense solves measure the rate: other plans are bound by memory and launches. The rate
     * of downloads is that of all devices together. */
    const uint32_t members = plan->summary.kind == PLAN_DENSE ? members_for(self, n) : 1;
    const double compute_s = account->timings.compute_s - before.compute_s;
    const double d2h_s = account->timings.d2h_s - before.d2h_s;
    if (plan->summary.kind == PLAN_DENSE && n >= MEASURED_VERTICES_MIN && compute_s > 0) {
        solver->rates[solver_arithmetic(kind, options)] =
            solver_relaxations(n, options) / (compute_s * members);
    }
    if (members == self->members && bytes >= MEASURED_BYTES_MIN && d2h_s > 0) {
        solver->rates[RATE_DOWNLOAD] = bytes / d2h_s;
    }
    return STATUS_OK;
}

/* Joins the ranks. Each rank is assumed to have as much free memory as the rank with the least. */
static void join_ranks(struct solver *solver, const struct ranks *ranks)
{
    struct solver_gpu *self = (struct solver_gpu *)solver;
    gpu_join(self->gpu, ranks);
    self->by_nccl = gpu_connect(self->gpu);
    gpu_describe(self->gpu, &self->device); /* NCCL has allocated some memory */
    const uint32_t lacking = UINT32_MAX - (uint32_t)(self->device.memory_free_bytes >> 20);
    const uint32_t least = UINT32_MAX - ranks->highest(ranks->context, lacking);
    self->device.memory_free_bytes = ((uint64_t)least << 20) * ranks->count;
    self->device.memory_bytes *= ranks->count;
    self->members = ranks->count;
    self->by_ranks = true;
}

static void close_gpu(struct solver *solver)
{
    struct solver_gpu *self = (struct solver_gpu *)solver;
    gpu_close(self->gpu);
    free(self);
}

const struct solver_class solver_gpu_class = {
    .name = "gpu",
    .size = sizeof(struct solver_gpu),
    .tile = GPU_TILE,
    .describe = describe_device,
    .estimate = estimate_solve,
    .plan_cost = plan_cost,
    .fits = fits_device,
    .solve = solve_on_device,
    .join = join_ranks,
    .close = close_gpu,
};

uint32_t solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE])
{
    return gpu_count(ret_reason);
}

enum status solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                            struct problem *reterr)
{
    uint32_t indexes[SOLVE_DEVICES_MAX];
    count = count < SOLVE_DEVICES_MAX ? count : SOLVE_DEVICES_MAX;
    CHECK(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = first + i;
    }
    struct solver_gpu *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to open GPU %u.",
                           first);
    }
    const enum status status = gpu_open(indexes, count, &self->gpu);
    if (status != STATUS_OK) {
        char reason[GPU_REASON_SIZE];
        free(self);
        (void)gpu_count(reason);
        return problem_set(reterr, status, "GPU %u cannot be opened%s%s.", first,
                           reason[0] != '\0' ? ": " : "", reason);
    }
    gpu_describe(self->gpu, &self->device);
    self->solver.class_ = &solver_gpu_class;
    self->solver.narrow_vertices = GPU_NARROW_VERTICES;
    /* Half of the cores fault in pages; the other half is left to the threads that copy rows. */
    self->solver.warm_threads = (cpu_pool_cores() + 1) / 2;
    self->index = first;
    self->members = count;
    solver_assume_rates(&self->solver, self->device.multiprocessors * 1e6 * self->device.clock_mhz *
                                           RELAXATIONS_PER_CLOCK * ASSUMED_EFFICIENCY);
    self->solver.rates[RATE_DOWNLOAD] = DOWNLOAD_BYTES_PER_SECOND;
    *ret_solver = &self->solver;
    return STATUS_OK;
}
