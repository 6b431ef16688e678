/* Solves a task whose graph was changed by updating the result of its parent, if that is less work
 * than a solve. Runs in the daemon, which has that result mapped. Worker's thread. */
#pragma once

#include "server/worker/task.h"

/* Updates a task that has a base and open files, with `threads` threads (0 = one per core). Leaves
 * a task that cannot be updated to its solver. */
void update_task(uint32_t threads, struct task *task);
