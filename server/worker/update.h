/* Updates a copy of the parent graph's result instead of solving the changed graph, if that is less
 * work. Runs in the daemon, where that result is mapped. Called on the worker's thread. */
#pragma once

#include "server/worker/task.h"

/* Updates a task that has a base and open files, with `threads` threads (0 = one per core). Leaves
 * a task that cannot be updated to its solver. */
void update_task(uint32_t threads, struct task *task);
