/* The daemon proves rows of a result before the result is published. The worker that computed it is
 * not trusted: a broken device or a compromised process may have written anything. Called on the
 * worker's thread. */
#pragma once

#include "server/solver/cpu/pool.h"
#include "server/worker/task.h"

/* Seals the result after the solve, and proves some of its rows, drawn at random, by certificate.
 * Rows of a hierarchy are computed first. *pool has `threads` threads (0: one for each core), is
 * created if there are many rows and edges, and is kept by the caller, because new threads start on
 * their creator's core and take a while to migrate. If a process reported a negative cycle,
 * searches for it again, because processes are not trusted. Sets status and problem; moves the
 * names out of the graph. */
void proof_check(uint32_t threads, struct cpu_pool **pool, struct task *task);
