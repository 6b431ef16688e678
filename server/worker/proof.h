/* The daemon proves rows of a result before the result is published. The worker that computed the
 * result is not trusted: a broken device or a compromised process may have written anything. Called
 * on the worker's thread. */
#pragma once

#include "server/solver/cpu/pool.h"
#include "server/worker/task.h"

/* Seals the result after the solve, and proves a random sample of its rows by certificate; rows of
 * a hierarchy are computed first. If a worker process reported a negative cycle, searches for the
 * cycle again, because these processes are not trusted. Sets status and problem; moves the names
 * out of the graph. *pool, NULL at first, is created with `threads` threads (0: one per core) if
 * there are many rows and edges. The caller keeps the pool, because new threads start on the core
 * of their creator and take a while to migrate. */
void proof_check(uint32_t threads, struct cpu_pool **pool, struct task *task);
