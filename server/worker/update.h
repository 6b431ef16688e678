/* A task whose graph was changed is solved from the result of its parent, where that is less work
 * than a solve. Always in the daemon, which has that result mapped. Thread of the worker. */
#pragma once

#include "server/worker/task.h"

/* A task that has a base, once its files are open, with `threads` threads (0: one for each core).
 * A task that cannot be updated is left to its solver. */
void update_task(uint32_t threads, struct task *task);
