/* The CPU back end: blocked Floyd-Warshall on the processor's threads. */
#include "server/solver/cpu/finish.h"
#include "server/solver/cpu/floyd_warshall.h"
#include "server/solver/cpu/tiles.h"
#include "server/solver/host_memory.h"
#include "server/solver/solver.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Smallest number of vertices whose solve is long enough to measure the rate. */
#define RATE_VERTICES 512

/* Smallest number of vertices for which proving that 16 bits suffice saves time. */
#define NARROW_VERTICES 256

/* Bytes per second that a thread fills, writes or counts, and the number of threads that saturate
 * the memory. The estimate of the remaining time assumes both until the pace is measured. */
#define MEMORY_BYTES_PER_S 1e9
#define MEMORY_THREADS 5

struct solver_cpu {
    struct solver solver;
    const struct cpu_kernel *kernel;
    struct solver_device device; /* device at the time of opening */
    uint32_t threads;
    double tile_share; /* share of all tiles that the ranks of this host store; 0 = no ranks */
    struct cpu_pool *pool;
};

/* Reads the first "model name" line of /proc/cpuinfo; "CPU" if there is none. */
static void read_model_name(char *ret_name, size_t size)
{
    snprintf(ret_name, size, "CPU");
    FILE *stream = fopen("/proc/cpuinfo", "re");
    if (stream == NULL) {
        return;
    }
    char line[256];
    while (fgets(line, sizeof(line), stream) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            value += 1 + strspn(value + 1, " \t");
            snprintf(ret_name, size, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    fclose(stream);
}

static void describe_cpu(const struct solver *solver, struct solver_device *ret_device)
{
    *ret_device = ((const struct solver_cpu *)solver)->device;
}

static void measure_device(struct solver_cpu *cpu)
{
    struct solver_device *device = &cpu->device;
    device->units = cpu->threads;
    device->members = 1;
    snprintf(device->solver, sizeof(device->solver), "cpu");
    snprintf(device->detail, sizeof(device->detail), "%s", cpu->kernel->isa);
    read_model_name(device->name, sizeof(device->name));
    device->memory_bytes = host_memory_total();
    device->memory_free_bytes = host_memory_available();
}

static double memory_seconds(const struct solver_cpu *cpu, double bytes)
{
    return bytes / (MEMORY_BYTES_PER_S * fmin(cpu->threads, MEMORY_THREADS));
}

static void estimate_solve(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                           enum kind kind, const struct solve_options *options,
                           struct solver_estimate *ret_estimate)
{
    (void)edge_count;
    const struct solver_cpu *cpu = (const struct solver_cpu *)solver;
    const uint32_t threads = cpu->threads;
    const enum arithmetic arithmetic = solver_arithmetic(kind, options);
    /* Ranks store their tiles outside the matrix, and so does a solve of a u2 matrix in i4. */
    const bool is_wide = kind == KIND_U2 && arithmetic == ARITHMETIC_I4;
    const double beside = cpu->tile_share > 0 ? cpu->tile_share : is_wide;
    const double elements = (double)vertex_count * vertex_count;
    const double tile_bytes = elements * cpu_tiles_element_bytes(arithmetic);
    const enum kind written = options->scaling.decimals > 0 ? KIND_F8 : kind;
    const struct plan dense = {.tile_count =
                                   (uint32_t)(((uint64_t)vertex_count + CPU_TILE - 1) / CPU_TILE)};
    const uint64_t solve_bytes = cpu_floyd_warshall_bytes(threads, &dense, arithmetic);
    const uint64_t finish_bytes = cpu_finish_bytes(threads, vertex_count, arithmetic);
    ret_estimate->device_bytes = 0;
    ret_estimate->host_bytes =
        (solve_bytes > finish_bytes ? solve_bytes : finish_bytes) + (uint64_t)(beside * tile_bytes);
    ret_estimate->seconds = solver_relaxations(vertex_count, options) / solver->rates[arithmetic];
    ret_estimate->finish_s = 0;
    ret_estimate->fill_s = memory_seconds(cpu, tile_bytes);
    ret_estimate->write_s = memory_seconds(cpu, elements * (double)kind_size(written));
    ret_estimate->check_s = ret_estimate->write_s;
}

static void plan_cost(const struct solver *solver, const struct graph *graph, enum kind kind,
                      const struct solve_options *options, struct plan_cost *ret_cost)
{
    (void)graph;
    const struct solver_cpu *cpu = (const struct solver_cpu *)solver;
    const double volume = (double)CPU_TILE * CPU_TILE * CPU_TILE;
    const double rate_per_s = solver->rates[solver_arithmetic(kind, options)];
    *ret_cost = (struct plan_cost){.tile = CPU_TILE,
                                   .threads = cpu->threads,
                                   .units = cpu->threads,
                                   .granule = 1,
                                   .edge_granule = 16,
                                   .round_s = 10e-6,
                                   .product_s = volume * cpu->threads / rate_per_s,
                                   .touch_s = 4e-6,
                                   .separator_s = PLAN_SEPARATOR_S};
}

/* Returns whether a plan fits in memory: the panels of a round with many pivots may need much. Half
 * of the available memory is reserved for the matrix and the service. */
static bool fits_host(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                      enum kind kind)
{
    (void)edge_count;
    const struct solver_cpu *cpu = (const struct solver_cpu *)solver;
    const struct solve_options options = {0};
    const uint32_t threads = cpu->threads;
    const enum arithmetic arithmetic = solver_arithmetic(kind, &options);
    const uint64_t solve_bytes = cpu_floyd_warshall_bytes(threads, plan, arithmetic);
    const uint64_t finish_bytes = cpu_finish_bytes(threads, plan->vertex_count, arithmetic);
    const uint64_t available = host_memory_available();
    const uint64_t most = available / 2;
    return available == 0 || (solve_bytes <= most && finish_bytes <= most);
}

/* Allocates the tiles. Tiles of a plan are in separate memory if there is enough for both tiles and
 * matrix: writing the pages of a result file once and in order takes a fifth of the time of writing
 * them in each pass, because the kernel may write them to disk in between. Ranks, and i4 tiles of a
 * u2 matrix, always use separate memory. */
static enum status open_tiles(const struct solver *solver, const struct plan *plan,
                              enum arithmetic arithmetic, const struct matrix *matrix,
                              struct cpu_tiles *ret_tiles, size_t *ret_beside_bytes)
{
    STATUS_TRY(cpu_tiles_init(plan, solver->ranks, arithmetic, ret_tiles));
    const size_t bytes =
        (size_t)ret_tiles->row_count * plan->vertex_count * ret_tiles->element_bytes;
    const bool needs_memory =
        solver->ranks != NULL || ret_tiles->element_bytes > kind_size(matrix->kind);
    if (plan->vertex_at != NULL || needs_memory) {
        ret_tiles->elements = host_memory_allocate(bytes);
        *ret_beside_bytes = ret_tiles->elements != NULL ? bytes : 0;
    }
    if (ret_tiles->elements == NULL && !needs_memory) {
        ret_tiles->elements = matrix->elements;
    }
    if (ret_tiles->elements == NULL && bytes > 0) {
        cpu_tiles_finish(ret_tiles);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

/* Solves the filled tiles and copies them to the matrix. */
static enum status solve_tiles(struct solver_cpu *cpu, struct cpu_pool *pool,
                               const struct cpu_tiles *tiles,
                               const struct cpu_solve_options *options, struct matrix *matrix)
{
    const bool is_float = tiles->arithmetic == ARITHMETIC_F4 || tiles->arithmetic == ARITHMETIC_F8;
    STATUS_TRY(cpu_floyd_warshall_run(pool, cpu->kernel, tiles, options));
    const bool is_negative = options->negative && is_float && !cpu_tiles_check_diagonal(tiles);
    STATUS_TRY(ranks_agree(tiles->ranks, is_negative ? STATUS_NEGATIVE_CYCLE : STATUS_OK));
    return ranks_agree(tiles->ranks, cpu_finish_run(pool, tiles, options, matrix));
}

static enum status solve_on_cpu(struct solver *solver, const struct graph *graph,
                                const struct plan *plan, const struct solve_options *options,
                                const struct observer *observer, struct matrix *matrix,
                                struct solve_account *account)
{
    CHECK(graph->vertex_count == matrix->vertex_count);
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    /* A graph of one tile needs no other thread. */
    struct cpu_pool *pool = graph->vertex_count <= CPU_TILE ? NULL : cpu->pool;
    const enum arithmetic arithmetic =
        solver_arithmetic(solve_computed_kind(options, matrix->kind), options);
    const bool dense = plan->summary.kind == PLAN_DENSE;
    const struct cpu_solve_options run = {
        .symmetric = dense ? options->symmetric : plan->symmetric,
        .negative = graph->summary.negative,
        .decimals = options->scaling.decimals,
        .observer = observer,
    };
    const double begin_s = stopwatch_now_s();
    size_t beside_bytes = 0;
    struct cpu_tiles tiles = {0};
    enum status opened = open_tiles(solver, plan, arithmetic, matrix, &tiles, &beside_bytes);
    enum status status = ranks_agree(solver->ranks, opened);
    double filled_s = begin_s;
    if (status == STATUS_OK) {
        observer_tell(observer, PHASE_FILLING, 0);
        cpu_tiles_fill(pool, graph, &tiles, run.symmetric);
        filled_s = stopwatch_now_s();
        observer_tell(observer, PHASE_SOLVING, 0);
        status = solve_tiles(cpu, pool, &tiles, &run, matrix);
    }
    if (opened == STATUS_OK) {
        host_memory_free(beside_bytes > 0 ? tiles.elements : NULL, beside_bytes);
        cpu_tiles_finish(&tiles);
    }
    const double computed_s = stopwatch_now_s();
    account->timings.fill_s += filled_s - begin_s;
    account->timings.compute_s += computed_s - filled_s;
    STATUS_TRY(status);
    if (dense && plan->vertex_count >= RATE_VERTICES && computed_s > filled_s) {
        solver->rates[arithmetic] =
            solver_relaxations(plan->vertex_count, options) / (computed_s - filled_s);
    }
    if (account->statistics != NULL && ranks_is_first(solver->ranks)) {
        cpu_finish_statistics(pool, matrix, observer, account->statistics);
        account->statistics_filled = true;
        account->timings.compute_s += stopwatch_now_s() - computed_s;
    }
    return STATUS_OK;
}

static void join_ranks(struct solver *solver, const struct ranks *ranks)
{
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    cpu->device.units *= ranks->count;
    snprintf(cpu->device.detail, sizeof(cpu->device.detail), "%s, %u ranks", cpu->kernel->isa,
             ranks->count);
    cpu->tile_share = (double)ranks->on_host / ranks->count;
    for (enum arithmetic arithmetic = 0; arithmetic < ARITHMETIC_COUNT; arithmetic++) {
        solver->rates[arithmetic] = solver->rates[arithmetic] * ranks->count;
    }
}

static void close_solver(struct solver *solver)
{
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    cpu_pool_destroy(cpu->pool);
    free(cpu);
}

const struct solver_class solver_cpu_class = {
    .name = "cpu",
    .size = sizeof(struct solver_cpu),
    .tile = CPU_TILE,
    .describe = describe_cpu,
    .estimate = estimate_solve,
    .plan_cost = plan_cost,
    .fits = fits_host,
    .solve = solve_on_cpu,
    .join = join_ranks,
    .close = close_solver,
};

enum status solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                            struct problem *reterr)
{
    const struct cpu_kernel *kernel = cpu_kernel_find(config->cpu_isa);
    if (kernel == NULL) {
        return problem_set(reterr, STATUS_CONFIG, "This machine does not support %s instructions.",
                           config->cpu_isa);
    }
    struct solver_cpu *cpu = calloc(1, sizeof(*cpu));
    if (cpu == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the CPU solver.");
    }
    const uint32_t threads = config->cpu_threads > 0 ? config->cpu_threads : cpu_pool_cores();
    const enum status status = cpu_pool_create(threads, &cpu->pool);
    if (status != STATUS_OK) {
        close_solver(&cpu->solver);
        return problem_set(reterr, status, "The %u threads of the CPU solver cannot be started.",
                           threads);
    }
    cpu->solver.class_ = &solver_cpu_class;
    cpu->solver.narrow_vertices = NARROW_VERTICES;
    cpu->solver.warm_threads = 1;
    cpu->kernel = kernel;
    cpu->threads = threads;
    measure_device(cpu);
    solver_assume_rates(&cpu->solver, kernel->relaxations_per_s * threads);
    *ret_solver = &cpu->solver;
    return STATUS_OK;
}
