#include "server/solver/cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct cpu_pool {
    uint32_t threads;
    uint32_t started; /* number of workers started */
    pthread_t *workers;

    /* The current loop, written before `generation` changes and read afterwards. */
    cpu_pool_task *task;
    void *context;
    uint64_t count;
    atomic_uint_least64_t next;
    const struct observer *observer; /* observer of this loop; NULL = none */
    enum solve_phase phase;
    double begin_share;
    double share;

    pthread_mutex_t mutex;
    pthread_cond_t begin;
    pthread_cond_t end;
    uint32_t entered;    /* number of workers that have an index, from 1 */
    uint64_t generation; /* number of loops so far */
    uint32_t busy;       /* workers still in the loop */
    bool stopping;
};

uint32_t cpu_pool_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
        /* The call fails if the host has more processors than a cpu_set_t can represent. */
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (uint32_t)online : 1;
    }
    const int count = CPU_COUNT(&cores);
    return count > 0 ? (uint32_t)count : 1;
}

static void work_through(struct cpu_pool *pool, uint32_t thread)
{
    for (;;) {
        const uint64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->count) {
            return;
        }
        if (thread == 0) {
            observer_tell(pool->observer, pool->phase,
                          pool->begin_share + pool->share * (double)task / (double)pool->count);
        }
        pool->task(pool->context, thread, task);
    }
}

static void *run_worker(void *context)
{
    struct cpu_pool *pool = context;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    const uint32_t index = ++pool->entered;
    for (;;) {
        while (pool->generation == seen && !pool->stopping) {
            pthread_cond_wait(&pool->begin, &pool->mutex);
        }
        if (pool->stopping) {
            break;
        }
        seen = pool->generation;
        pthread_mutex_unlock(&pool->mutex);
        work_through(pool, index);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->end);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

enum status cpu_pool_create(uint32_t threads, struct cpu_pool **ret_pool)
{
    CHECK(threads >= 1);
    struct cpu_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL) {
        return STATUS_NO_MEMORY;
    }
    pool->threads = threads;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->workers = calloc(threads, sizeof(*pool->workers));
    bool complete = pool->workers != NULL;
    while (complete && pool->started + 1 < threads) {
        complete = pthread_create(&pool->workers[pool->started], NULL, run_worker, pool) == 0;
        pool->started += complete;
    }
    if (!complete) {
        cpu_pool_destroy(pool);
        return STATUS_NO_MEMORY;
    }
    *ret_pool = pool;
    return STATUS_OK;
}

void cpu_pool_destroy(struct cpu_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t index = 0; index < pool->started; index++) {
        pthread_join(pool->workers[index], NULL);
    }
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

uint32_t cpu_pool_threads(const struct cpu_pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void cpu_pool_watch(struct cpu_pool *pool, const struct observer *observer, enum solve_phase phase,
                    double begin_share, double share)
{
    if (pool != NULL) {
        pool->observer = observer;
        pool->phase = phase;
        pool->begin_share = begin_share;
        pool->share = share;
    }
}

void cpu_pool_run(struct cpu_pool *pool, uint64_t count, cpu_pool_task *task, void *context)
{
    for (uint64_t i = 0; pool == NULL && i < count; i++) {
        task(context, 0, i);
    }
    if (pool == NULL) {
        return;
    }
    pool->task = task;
    pool->context = context;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    const bool shared = count > 1 && pool->started > 0;
    if (shared) {
        pthread_mutex_lock(&pool->mutex);
        pool->busy = pool->started;
        pool->generation++;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->mutex);
    }
    work_through(pool, 0);
    if (shared) {
        pthread_mutex_lock(&pool->mutex);
        while (pool->busy > 0) {
            pthread_cond_wait(&pool->end, &pool->mutex);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    pool->observer = NULL;
}
