/* A process that runs the solver of a worker, as the daemon sees it: started, given tasks over its
 * socket, watched meanwhile, and ended. It is a process of this program, or ranks that a launcher
 * starts (launcher.h). Whatever it should not do is a loss, after which it is to be ended: here a
 * hung kernel's process is killed. Owned by the thread that started it, and ended by the kernel
 * when that thread or the daemon ends. */
#pragma once

#include "server/worker/launcher.h"
#include "server/worker/watch.h"
#include "server/worker/wire.h"

#include <sys/types.h>

struct worker_process {
    /* Set before the first start; borrowed. */
    struct worker_shared *shared;
    int shared_descriptor;
    const struct worker_launcher *launcher; /* NULL = it is one process, of this program */
    int wakeup;                             /* an eventfd that ends a wait */
    uint32_t stall_s;
    atomic_bool is_hurried; /* the daemon is about to leave: set by any thread */

    pid_t pid;  /* of ranks: of the process that starts them */
    int pidfd;  /* readable once it has ended; of ranks: the launcher's channel, which tells how */
    int socket; /* does not block; -1 while ranks have not connected */
    bool is_running;
    bool is_stuck; /* killed, and not gone yet: a call of its driver does not return. Until that
                    * does, it holds its device */
    struct worker_watch watch;
    double looked_at_s; /* by the watch */
};

/* STATUS_NO_MEMORY when no process can be had. */
MUST_CHECK enum status worker_process_start(struct worker_process *process);
/* After the start: receives the facts about its solver. ret_opened is zero on a loss. */
MUST_CHECK enum task_loss worker_process_open(struct worker_process *process,
                                              const struct worker_setup *setup,
                                              struct wire_opened *ret_opened);
/* Sends the task, and waits for its end. model: estimates, and learns the figures that the process
 * has learned. */
MUST_CHECK enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                               struct solver *model);
/* Waits until wakeup is readable, or the process is lost. */
MUST_CHECK enum task_loss worker_process_wait_idle(struct worker_process *process);
/* Ends it, for the reason *loss; with TASK_LOSS_NONE it is told to leave, and has time for it. One
 * that ended by itself, TASK_LOSS_EXIT, gets the way how: TASK_LOSS_EXIT or TASK_LOSS_SIGNAL. */
void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code);
/* Waits until wakeup is readable, for wait_ms at most. A stuck process is waited for as long as it
 * takes; true when it is gone. */
bool worker_process_wait(struct worker_process *process, int wait_ms);
