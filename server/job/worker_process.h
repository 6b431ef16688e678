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
/* A process that is being started has copies of all descriptors for a moment: who must be without
 * one holds the starts for as long, briefly. Any thread. */
void worker_process_hold_starts(void);
void worker_process_allow_starts(void);
/* Hangs up, waits for it to leave, for grace_ms at most, then kills it. Tells how it ended:
 * WORK_LOSS_EXIT or WORK_LOSS_SIGNAL. STATUS_DEVICE_LOST when it was killed and is there still,
 * because a call of its driver does not return: until that does, it holds its device. */
MUST_CHECK enum status worker_process_end(struct worker_process *process, int grace_ms,
                                          enum work_loss *ret_loss, int *ret_code);
/* Of one that is there still: waits until it is gone, or the bell rings. Whether it is gone. */
MUST_CHECK bool worker_process_await(struct worker_process *process, int bell);
/* Nobody waits for its end any more. */
void worker_process_leave_behind(struct worker_process *process);
