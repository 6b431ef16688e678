/* The processor's yardsticks: chains of relaxations by the kernels' own instructions, on one thread
 * and on all, and a copy in memory by all. */
#include "server/solver/cpu_kernel.h"
#include "server/solver/cpu_pool.h"
#include "server/solver/probe.h"
#include "server/solver/stopwatch.h"

#include <stdlib.h>
#include <string.h>

/* A chain is made longer until it takes this long: beside it the start of the threads is nothing.
 */
#define CHAIN_SECONDS 0.02
#define CHAIN_TURNS_FIRST 100000
#define CHAIN_RUNS 5
/* Beyond the caches of most processors; from and to. */
#define COPY_BYTES ((size_t)256 << 20)
#define COPY_RUNS 4

struct probe_cpu {
    struct probe probe;
    const struct cpu_kernel *kernel;
    struct cpu_pool *pool;
};

static enum status facts(struct probe *probe, struct device_facts *ret_facts)
{
    const struct probe_cpu *self = (struct probe_cpu *)probe;
    *ret_facts = (struct device_facts){.units = cpu_pool_threads(self->pool)};
    return STATUS_OK;
}

struct chaining {
    const struct cpu_operations *operations;
    enum arithmetic arithmetic;
    uint64_t turns;
    uint64_t relaxations; /* of one task: all make as many */
};

static void run_chain(void *context, uint32_t thread, uint64_t task)
{
    struct chaining *chaining = context;
    union {
        int32_t i4[2];
        int16_t narrow[2];
        float f4[2];
        double f8[2];
    } values = {.i4 = {1, 1000000}};
    (void)thread;
    if (chaining->arithmetic == ARITHMETIC_F4) {
        values.f4[0] = 1;
        values.f4[1] = 1000000;
    } else if (chaining->arithmetic == ARITHMETIC_NARROW) {
        values.narrow[0] = 1;
        values.narrow[1] = 30000;
    } else if (chaining->arithmetic == ARITHMETIC_F8) {
        values.f8[0] = 1;
        values.f8[1] = 1000000;
    }
    const uint64_t relaxations = chaining->operations->chain(chaining->turns, &values);
    if (task == 0) {
        chaining->relaxations = relaxations;
    }
}

/* Relaxations per second of that many threads at once. */
static double chain_rate(struct probe_cpu *self, struct chaining *chaining, uint32_t threads)
{
    double seconds = 0;
    while (seconds < CHAIN_SECONDS) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(self->pool, threads, run_chain, chaining);
        seconds = stopwatch_now_s() - begin_s;
        chaining->turns *= seconds < CHAIN_SECONDS ? 2 : 1;
    }
    return (double)chaining->relaxations * threads / seconds;
}

static double best_chain_rate(struct probe_cpu *self, struct chaining *chaining, uint32_t threads)
{
    double best = 0;
    for (uint32_t run = 0; run < CHAIN_RUNS; ++run) {
        const double rate = chain_rate(self, chaining, threads);
        best = rate > best ? rate : best;
    }
    return best;
}

static enum status limit(struct probe *probe, enum arithmetic arithmetic,
                         struct arithmetic_limit *ret_limit)
{
    struct probe_cpu *self = (struct probe_cpu *)probe;
    struct chaining chaining = {
        .operations = cpu_kernel_operations(self->kernel, arithmetic, false),
        .arithmetic = arithmetic,
        .turns = CHAIN_TURNS_FIRST,
    };
    *ret_limit = (struct arithmetic_limit){
        .relaxations_per_s_unit = best_chain_rate(self, &chaining, 1),
        .relaxations_per_s = best_chain_rate(self, &chaining, cpu_pool_threads(self->pool)),
    };
    return STATUS_OK;
}

struct copying {
    char *from;
    char *to;
    size_t share;
};

static void copy_share(void *context, uint32_t thread, uint64_t task)
{
    const struct copying *copying = context;
    (void)thread;
    memcpy(copying->to + task * copying->share, copying->from + task * copying->share,
           copying->share);
}

static double copy_rate(struct probe_cpu *self, struct copying *copying)
{
    const uint32_t threads = cpu_pool_threads(self->pool);
    double best = 0;
    copying->share = COPY_BYTES / threads;
    for (uint32_t run = 0; run < COPY_RUNS; ++run) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(self->pool, threads, copy_share, copying);
        const double seconds = stopwatch_now_s() - begin_s;
        const double rate = 2 * (double)copying->share * threads / seconds;
        best = rate > best ? rate : best;
    }
    return best;
}

static enum status memory(struct probe *probe, struct memory_limit *ret_limit)
{
    struct copying copying = {.from = malloc(COPY_BYTES), .to = malloc(COPY_BYTES)};
    enum status status = STATUS_NO_MEMORY;
    if (copying.from != NULL && copying.to != NULL) {
        /* Pages that nobody wrote may all be one. */
        memset(copying.from, 1, COPY_BYTES);
        *ret_limit = (struct memory_limit){.copy = copy_rate((struct probe_cpu *)probe, &copying)};
        status = STATUS_OK;
    }
    free(copying.from);
    free(copying.to);
    return status;
}

static void close_probe(struct probe *probe)
{
    struct probe_cpu *self = (struct probe_cpu *)probe;
    cpu_pool_destroy(self->pool);
    free(self);
}

static const struct probe_class probe_cpu_class = {
    .facts = facts,
    .limit = limit,
    .memory = memory,
    .close = close_probe,
};

enum status probe_cpu_open(const struct solver_device *device, struct probe **ret_probe)
{
    struct probe_cpu *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return STATUS_NO_MEMORY;
    }
    self->probe.class_ = &probe_cpu_class;
    self->kernel = cpu_kernel_find(device->detail);
    if (self->kernel == NULL) {
        free(self);
        return STATUS_CONFIG;
    }
    const enum status status = cpu_pool_create(device->units, &self->pool);
    if (status != STATUS_OK) {
        free(self);
        return status;
    }
    *ret_probe = &self->probe;
    return STATUS_OK;
}
