/* A process of this program that runs the worker's loop: started, spoken to over its socket, ended.
 * Owned by the thread that started it, and ended by the kernel when that thread or the daemon
 * ends. */
#pragma once

#include "server/job/worker/task.h"

#include <sys/types.h>

/* How the program is told that it is one: `apspd --worker-fd 3`. No part of the interface. */
#define WORKER_PROCESS_FLAG "--worker-fd"
#define WORKER_PROCESS_SOCKET 3

struct worker_process {
    pid_t pid;
    int pidfd;
    int socket; /* does not block */
};

/* STATUS_NO_MEMORY when no process can be had. */
MUST_CHECK enum status worker_process_start(struct worker_process *ret_process);
/* Hangs up, waits for it to leave, for grace_ms at most, then kills it. Tells how it ended:
 * TASK_LOSS_EXIT or TASK_LOSS_SIGNAL. STATUS_DEVICE_LOST when it was killed and is there still,
 * because a call of its driver does not return: until that does, it holds its device. */
MUST_CHECK enum status worker_process_end(struct worker_process *process, int grace_ms,
                                          enum task_loss *ret_loss, int *ret_code);
/* Waits until a process that survived worker_process_end is gone, or the bell (an eventfd) is
 * readable. True when it is gone. */
MUST_CHECK bool worker_process_await(struct worker_process *process, int bell);
/* Nobody waits for its end any more. */
void worker_process_leave_behind(struct worker_process *process);
