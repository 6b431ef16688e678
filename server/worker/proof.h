/* The daemon proves rows of a result before the result is published. The worker that computed it is
 * not trusted: a broken device, or a process that was broken into, may have written anything.
 * Thread of the worker. */
#pragma once

#include "server/solver/cpu/pool.h"
#include "server/worker/task.h"

/* After the solve: seals the result and proves some of its rows, drawn at random, by certificate.
 * Rows of a hierarchy are computed first. *pool has `threads` threads (0: one for each core), is
 * created when rows and edges are many, and is kept by the caller: new threads start on their
 * creator's core and take a while to migrate. Finds a negative cycle again that a process has only
 * reported. Sets status and problem; moves the names out of the graph. */
void proof_check(uint32_t threads, struct cpu_pool **pool, struct task *task);
