/* The CPU back end: kernels for the processor at hand, its threads, blocked Floyd-Warshall. */
#include "proto/check.h"
#include "server/solver/cpu_fill.h"
#include "server/solver/cpu_floyd_warshall.h"
#include "server/solver/cpu_kernel.h"
#include "server/solver/cpu_pool.h"
#include "server/solver/row_statistics.h"
#include "server/solver/solver.h"
#include "server/solver/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Below this many vertices a solve is over before its rate means anything. */
#define RATE_VERTICES 512

/* The largest graph of a batch, where each is one thread's: all threads on one graph wait for each
 * other three times a tile, which is cheap only when a tile takes long. */
#define BATCH_VERTICES 512

struct solver_cpu {
    struct solver solver;
    const struct cpu_kernel *kernel;
    struct cpu_pool *pool;
    struct cpu_pool **alone; /* for each of its threads one of that thread alone, for a batch */
    uint32_t alone_count;
    double relaxations_per_s[KIND_COUNT]; /* of all threads: assumed, then measured */
};

static bool supports(enum kind kind)
{
    return cpu_kernel_operations(&cpu_kernel_portable, kind) != NULL;
}

/* The value of the first "model name" line of /proc/cpuinfo, which not every processor has. */
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

/* What a new job could have without swapping: file cache counts, which freeram leaves out. */
static uint64_t read_available_bytes(void)
{
    unsigned long long available_kib = 0;
    FILE *stream = fopen("/proc/meminfo", "re");
    if (stream == NULL) {
        return 0;
    }
    char line[256];
    while (fgets(line, sizeof(line), stream) != NULL &&
           sscanf(line, "MemAvailable: %llu", &available_kib) != 1) {
    }
    fclose(stream);
    return available_kib * 1024;
}

static void describe(const struct solver *solver, struct solver_device *ret_device)
{
    const struct solver_cpu *cpu = (const struct solver_cpu *)solver;
    *ret_device = (struct solver_device){.units = cpu_pool_threads(cpu->pool)};
    snprintf(ret_device->solver, sizeof(ret_device->solver), "cpu");
    snprintf(ret_device->detail, sizeof(ret_device->detail), "%s", cpu->kernel->isa);
    read_model_name(ret_device->name, sizeof(ret_device->name));
    struct sysinfo memory;
    if (sysinfo(&memory) == 0) {
        ret_device->memory_bytes = (uint64_t)memory.totalram * memory.mem_unit;
        ret_device->memory_free_bytes = (uint64_t)memory.freeram * memory.mem_unit;
    }
    const uint64_t available_bytes = read_available_bytes();
    if (available_bytes > 0) {
        ret_device->memory_free_bytes = available_bytes;
    }
}

static double relaxation_count(uint32_t vertex_count)
{
    return (double)vertex_count * vertex_count * vertex_count;
}

static void estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, const struct solve_options *options,
                     struct solver_estimate *ret_estimate)
{
    (void)edge_count;
    (void)options;
    const struct solver_cpu *cpu = (const struct solver_cpu *)solver;
    CHECK(supports(kind));
    ret_estimate->device_bytes = 0;
    ret_estimate->host_bytes = cpu_floyd_warshall_bytes(vertex_count, kind);
    ret_estimate->seconds = relaxation_count(vertex_count) / cpu->relaxations_per_s[kind];
    ret_estimate->finish_s = 0;
}

/* The last pass over a solved matrix. */
static enum status finish_matrix(struct cpu_pool *pool, const struct graph *graph,
                                 bool clamp_diagonal, struct matrix *matrix)
{
    if (!graph->summary.negative) {
        return STATUS_OK;
    }
    if (matrix->kind == KIND_I4) {
        cpu_fill_canonical(pool, matrix);
        return STATUS_OK;
    }
    return cpu_fill_check_diagonal(matrix, clamp_diagonal) ? STATUS_OK : STATUS_NEGATIVE_CYCLE;
}

static void learn_rate(struct solver_cpu *cpu, const struct matrix *matrix, const struct plan *plan,
                       double seconds)
{
    if (matrix->vertex_count >= RATE_VERTICES && seconds > 0 && plan->summary.kind == PLAN_DENSE) {
        cpu->relaxations_per_s[matrix->kind] = relaxation_count(matrix->vertex_count) / seconds;
    }
}

/* On the threads of the pool. */
static enum status solve_on(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                            const struct graph *graph, const struct plan *plan,
                            const struct solve_options *options, const struct observer *observer,
                            struct matrix *matrix, struct solve_account *account)
{
    CHECK(graph->vertex_count == matrix->vertex_count && supports(matrix->kind));
    const double begin_s = stopwatch_now_s();
    cpu_fill_edges(pool, graph, matrix);
    const double filled_s = stopwatch_now_s();
    enum status status =
        cpu_floyd_warshall_run(pool, kernel, plan, options->clamp_diagonal, observer, matrix);
    if (status == STATUS_OK) {
        status = finish_matrix(pool, graph, options->clamp_diagonal, matrix);
    }
    const double end_s = stopwatch_now_s();
    account->timings.fill_s += filled_s - begin_s;
    account->timings.compute_s += end_s - filled_s;
    return status;
}

static void fill_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                            struct solve_account *account)
{
    if (account->statistics == NULL) {
        return;
    }
    const double begin_s = stopwatch_now_s();
    row_statistics_run(pool, matrix, account->statistics);
    account->statistics_filled = true;
    account->timings.compute_s += stopwatch_now_s() - begin_s;
}

static enum status solve(struct solver *solver, const struct graph *graph, const struct plan *plan,
                         const struct solve_options *options, const struct observer *observer,
                         struct matrix *matrix, struct solve_account *account)
{
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    const double before_s = account->timings.compute_s;
    const enum status status =
        solve_on(cpu->pool, cpu->kernel, graph, plan, options, observer, matrix, account);
    if (status == STATUS_OK) {
        learn_rate(cpu, matrix, plan, account->timings.compute_s - before_s);
        fill_statistics(cpu->pool, matrix, account);
    }
    return status;
}

struct item_line {
    struct solver_cpu *cpu;
    struct solve_item *items;
};

static bool is_cancelled(const struct solve_item *item)
{
    return item->observer != NULL && item->observer->cancelled(item->observer->context);
}

static void solve_item(void *context, uint32_t thread, uint64_t task)
{
    const struct item_line *line = context;
    struct solve_item *item = &line->items[task];
    if (is_cancelled(item)) {
        item->status = STATUS_CANCELLED;
        return;
    }
    struct cpu_pool *alone = line->cpu->alone[thread];
    item->status = solve_on(alone, line->cpu->kernel, item->graph, item->plan, &item->options,
                            item->observer, item->matrix, item->account);
    if (item->status == STATUS_OK) {
        fill_statistics(alone, item->matrix, item->account);
    }
}

static void solve_batch(struct solver *solver, struct solve_item *items, uint32_t count)
{
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    struct item_line line = {cpu, items};
    cpu_pool_run(cpu->pool, count, solve_item, &line);
}

static void close_solver(struct solver *solver)
{
    struct solver_cpu *cpu = (struct solver_cpu *)solver;
    for (uint32_t index = 0; index < cpu->alone_count; ++index) {
        cpu_pool_destroy(cpu->alone[index]);
    }
    free(cpu->alone);
    cpu_pool_destroy(cpu->pool);
    free(cpu);
}

static const struct solver_class cpu_class = {
    .name = "cpu",
    .tile = CPU_TILE,
    .depth = CPU_TILE,
    .supports = supports,
    .describe = describe,
    .estimate = estimate,
    .solve = solve,
    .batch_vertices = BATCH_VERTICES,
    .solve_batch = solve_batch,
    .close = close_solver,
};

static void assume_rates(struct solver_cpu *cpu, uint32_t threads)
{
    const double rate = cpu->kernel->relaxations_per_s * threads;
    cpu->relaxations_per_s[KIND_I4] = rate;
    cpu->relaxations_per_s[KIND_F4] = rate;
    cpu->relaxations_per_s[KIND_F8] = rate / 2;
}

static enum status create_pools(struct solver_cpu *cpu, uint32_t threads)
{
    enum status status = cpu_pool_create(threads, &cpu->pool);
    cpu->alone = calloc(threads, sizeof(struct cpu_pool *));
    if (status == STATUS_OK && cpu->alone == NULL) {
        status = STATUS_NO_MEMORY;
    }
    while (status == STATUS_OK && cpu->alone_count < threads) {
        status = cpu_pool_create(1, &cpu->alone[cpu->alone_count]);
        cpu->alone_count += status == STATUS_OK ? 1 : 0;
    }
    return status;
}

enum status solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                            struct problem *reterr)
{
    const struct cpu_kernel *kernel = cpu_kernel_find(config->cpu_isa);
    if (kernel == NULL) {
        return problem_set(reterr, STATUS_CONFIG,
                           "This machine cannot run the instruction set '%s'.", config->cpu_isa);
    }
    struct solver_cpu *cpu = calloc(1, sizeof(*cpu));
    if (cpu == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the CPU solver.");
    }
    const uint32_t threads = config->cpu_threads > 0 ? config->cpu_threads : cpu_pool_cores();
    const enum status status = create_pools(cpu, threads);
    if (status != STATUS_OK) {
        close_solver(&cpu->solver);
        return problem_set(reterr, status, "%u threads cannot be started.", threads);
    }
    cpu->solver.class_ = &cpu_class;
    cpu->kernel = kernel;
    assume_rates(cpu, threads);
    *ret_solver = &cpu->solver;
    return STATUS_OK;
}
