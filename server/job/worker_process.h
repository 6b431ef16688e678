/* A process of this program that runs the worker's loop: started, spoken to over its socket, ended.
 * Owned by the thread that started it, and ended by the kernel when that thread or the daemon
 * ends. */
#pragma once

#include "server/job/work.h"

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
 * WORK_LOSS_EXIT or WORK_LOSS_SIGNAL. STATUS_DEVICE_LOST when it cannot be killed, because a driver
 * call of it does not return: it is left behind. */
MUST_CHECK enum status worker_process_end(struct worker_process *process, int grace_ms,
                                          enum work_loss *ret_loss, int *ret_code);
