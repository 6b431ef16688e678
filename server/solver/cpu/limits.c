#include "server/solver/cpu/limits.h"

#include "server/solver/stopwatch.h"

#include <stdlib.h>
#include <string.h>

/* A chain is made longer until it takes this long, so that the start of the threads costs nothing
 * beside it. */
#define CHAIN_SECONDS 0.02
#define CHAIN_TURNS_FIRST 100000
/* Beyond the caches of most processors. */
#define COPY_BYTES ((size_t)256 << 20)
/* The best of so many counts. */
#define RUNS 5

struct measuring {
    const struct cpu_operations *operations; /* NULL: a copy, */
    char *from;
    char *to;
    size_t share; /* of so many bytes by each task */
    uint64_t turns;
    double done; /* by one task: all do as much */
};

static void run_task(void *context, uint32_t thread, uint64_t task)
{
    struct measuring *measuring = context;
    double done = 2 * (double)measuring->share;
    (void)thread;
    if (measuring->operations == NULL) {
        const size_t first = task * measuring->share;
        memcpy(measuring->to + first, measuring->from + first, measuring->share);
    } else {
        /* All bits 0 are a 0 of every type: the speed does not depend on the numbers. */
        double values[2] = {0};
        done = (double)measuring->operations->chain(measuring->turns, values);
    }
    if (task == 0) {
        measuring->done = done;
    }
}

static double measure(struct cpu_pool *pool, struct measuring *measuring)
{
    const uint32_t threads = cpu_pool_threads(pool);
    double best = 0;
    for (uint32_t run = 0; run < RUNS;) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(pool, threads, run_task, measuring);
        const double seconds = stopwatch_now_s() - begin_s;
        if (measuring->operations != NULL && seconds < CHAIN_SECONDS) {
            measuring->turns *= 2;
            continue;
        }
        const double rate = measuring->done * threads / seconds;
        best = rate > best ? rate : best;
        run++;
    }
    return best;
}

enum status cpu_limits_measure(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                               struct device_limits *ret_limits)
{
    struct device_limits limits = {0};
    struct measuring copy = {.from = malloc(COPY_BYTES),
                             .to = malloc(COPY_BYTES),
                             .share = COPY_BYTES / cpu_pool_threads(pool)};
    const bool enough = copy.from != NULL && copy.to != NULL;
    if (enough) {
        /* Pages that were never written may all be the same one. */
        memset(copy.from, 1, COPY_BYTES);
        limits.copy_bytes_per_s = measure(pool, &copy);
    }
    free(copy.from);
    free(copy.to);
    if (!enough) {
        return STATUS_NO_MEMORY;
    }
    for (int i = 0; i < ARITHMETIC_COUNT; i++) {
        struct measuring chain = {
            .operations = cpu_kernel_operations(kernel, (enum arithmetic)i, false),
            .turns = CHAIN_TURNS_FIRST,
        };
        limits.relaxations_per_s[i] = measure(pool, &chain);
    }
    *ret_limits = limits;
    return STATUS_OK;
}
