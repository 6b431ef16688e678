/* A pool of threads that share the tasks of one loop, then wait for the next loop.
 *
 * cpu_pool_create starts the threads, which wait on a condition variable between loops;
 * cpu_pool_destroy joins them. The thread that calls cpu_pool_run executes tasks too. The mutex of
 * the pool guards only the start and the end of a loop, not the tasks. One thread at a time may use
 * a pool. */
#pragma once

#include "proto/solve.h"
#include "proto/status.h"

#include <stdint.h>

struct cpu_pool;

/* Runs one task. thread: 0 for the caller of cpu_pool_run, else 1..threads-1. */
typedef void cpu_pool_task(void *context, uint32_t thread, uint64_t task);

/* Returns the number of cores that this process may use. */
uint32_t cpu_pool_cores(void);

/* Starts a pool of `threads` threads, at least 1, including the calling thread. STATUS_NO_MEMORY,
 * also if pthread_create fails. */
MUST_CHECK enum status cpu_pool_create(uint32_t threads, struct cpu_pool **ret_pool);
void cpu_pool_destroy(struct cpu_pool *pool);

/* Returns the number of threads. Here and below, a NULL pool means only the calling thread. */
uint32_t cpu_pool_threads(const struct cpu_pool *pool);

/* Makes the next loop report its progress to the observer, from the calling thread, between its
 * tasks. The loop is the part [begin_share, begin_share + share] of the phase. */
void cpu_pool_watch(struct cpu_pool *pool, const struct observer *observer, enum solve_phase phase,
                    double begin_share, double share);

/* Runs tasks 0..count-1, each once, started in ascending order, and returns when all have ended.
 * Their writes are then visible to the caller. A single task runs on the calling thread. */
void cpu_pool_run(struct cpu_pool *pool, uint64_t count, cpu_pool_task *task, void *context);
