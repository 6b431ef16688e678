#include "server/solver/cpu/tiles.h"

#include "server/solver/steps.h"

#include <stdlib.h>
#include <string.h>

/* A chain is made longer until it takes this long, so that the start of the threads costs nothing
 * beside it. */
#define CHAIN_SECONDS 0.02
#define CHAIN_TURNS_FIRST 100000
#define CHAIN_RUNS 5
/* Beyond the caches of most processors. */
#define COPY_BYTES ((size_t)256 << 20)
#define COPY_RUNS 4

struct chaining {
    const struct cpu_operations *operations;
    uint64_t turns;
    uint64_t relaxations; /* of one task: all make as many */
};

static void run_chain(void *context, uint32_t thread, uint64_t task)
{
    struct chaining *chaining = context;
    /* All bits 0 are a 0 of every type: the speed does not depend on the numbers. */
    double values[2] = {0};
    (void)thread;
    const uint64_t relaxations = chaining->operations->chain(chaining->turns, values);
    if (task == 0) {
        chaining->relaxations = relaxations;
    }
}

static double measure_chain(struct cpu_pool *pool, struct chaining *chaining)
{
    const uint32_t threads = cpu_pool_threads(pool);
    double best = 0;
    for (uint32_t run = 0; run < CHAIN_RUNS;) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(pool, threads, run_chain, chaining);
        const double seconds = stopwatch_now_s() - begin_s;
        if (seconds < CHAIN_SECONDS) {
            chaining->turns *= 2;
            continue;
        }
        const double rate = (double)chaining->relaxations * threads / seconds;
        best = rate > best ? rate : best;
        run++;
    }
    return best;
}

struct copying {
    char *from;
    char *to;
    size_t share; /* bytes of one task */
};

static void copy_share(void *context, uint32_t thread, uint64_t task)
{
    const struct copying *copying = context;
    (void)thread;
    memcpy(copying->to + task * copying->share, copying->from + task * copying->share,
           copying->share);
}

static double measure_copy(struct cpu_pool *pool, struct copying *copying)
{
    const uint32_t threads = cpu_pool_threads(pool);
    double best = 0;
    copying->share = COPY_BYTES / threads;
    /* Pages that were never written may all be the same one. */
    memset(copying->from, 1, COPY_BYTES);
    for (uint32_t run = 0; run < COPY_RUNS; run++) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(pool, threads, copy_share, copying);
        const double seconds = stopwatch_now_s() - begin_s;
        const double rate = 2 * (double)copying->share * threads / seconds;
        best = rate > best ? rate : best;
    }
    return best;
}

enum status cpu_limits_measure(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                               struct device_limits *ret_limits)
{
    struct device_limits limits = {0};
    struct copying copying = {.from = malloc(COPY_BYTES), .to = malloc(COPY_BYTES)};
    enum status status = STATUS_NO_MEMORY;
    if (copying.from != NULL && copying.to != NULL) {
        limits.copy_bytes_per_s = measure_copy(pool, &copying);
        status = STATUS_OK;
    }
    free(copying.from);
    free(copying.to);
    for (int i = 0; i < ARITHMETIC_COUNT && status == STATUS_OK; i++) {
        struct chaining chaining = {
            .operations = cpu_kernel_operations(kernel, (enum arithmetic)i, false),
            .turns = CHAIN_TURNS_FIRST,
        };
        limits.relaxations_per_s[i] = measure_chain(pool, &chaining);
    }
    if (status == STATUS_OK) {
        *ret_limits = limits;
    }
    return status;
}
