/* The threads of the CPU solver: they share the tasks of one loop, then wait for the next.
 *
 * Created when the solver is opened, parked on a condition variable between loops, joined when it
 * is closed. The thread that calls cpu_pool_run works too. The mutex inside is, beside the mailbox
 * and the result table, the only one of the program: it guards the change from one loop to the
 * next, never the work. */
#pragma once

#include "proto/solve.h"
#include "proto/status.h"

#include <stdint.h>

struct cpu_pool;

/* thread: 0 for the caller of cpu_pool_run, else 1..threads-1. */
typedef void cpu_pool_task(void *context, uint32_t thread, uint64_t task);

/* The cores that this process may use. */
uint32_t cpu_pool_cores(void);

/* threads counts the calling thread, at least 1. STATUS_NO_MEMORY, also when the system gives no
 * further thread. */
MUST_CHECK enum status cpu_pool_create(uint32_t threads, struct cpu_pool **ret_pool);
void cpu_pool_destroy(struct cpu_pool *pool);

/* A pool that is NULL, here and of cpu_pool_run, is the calling thread alone. */
uint32_t cpu_pool_threads(const struct cpu_pool *pool);

/* The next loop is told to the observer, by the calling thread as it takes tasks: it is `share` of
 * the phase, from begin_share on. */
void cpu_pool_watch(struct cpu_pool *pool, const struct observer *observer, enum solve_phase phase,
                    double begin_share, double share);

/* Runs task 0..count-1, each once, in ascending order of their start; back when all have ended.
 * What they wrote is visible to the caller. A single task stays on the calling thread. */
void cpu_pool_run(struct cpu_pool *pool, uint64_t count, cpu_pool_task *task, void *context);
