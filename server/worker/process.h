/* A worker process as the daemon sees it: started, given tasks over its socket, watched, and ended.
 * It is a process of this program, or ranks started by a launcher (launcher.h). Every failure of
 * the process, including a hang, is a loss, after which the caller ends the process. Owned by the
 * thread that started it; the kernel kills the process when that thread or the daemon ends. */
#pragma once

#include "server/worker/launcher.h"
#include "server/worker/watch.h"
#include "server/worker/wire.h"

#include <sys/types.h>

struct worker_process {
    /* Set before the first start; borrowed. */
    struct worker_shared *shared;
    int shared_descriptor;
    const struct worker_launcher *launcher; /* NULL = a process of this program */
    int wakeup;                             /* eventfd that ends a wait */
    uint32_t stall_s;
    atomic_bool is_hurried; /* the daemon is about to exit; set by any thread */

    pid_t pid;  /* for ranks, the launcher's helper process */
    int pidfd;  /* readable when the process has ended; for ranks: from worker_launcher_run */
    int socket; /* -1 until rank 0 has connected */
    bool is_running;
    bool is_stuck; /* killed, but stuck in a driver call, and still holds its device */
    struct worker_watch watch;
    double looked_at_s; /* time of the last check by the watch */
};

/* Starts the process. STATUS_NO_MEMORY if that fails. */
MUST_CHECK enum status worker_process_start(struct worker_process *process);
/* Sends the setup and receives the facts about the solver. *ret_opened is zero on a loss. */
MUST_CHECK enum task_loss worker_process_open(struct worker_process *process,
                                              const struct worker_setup *setup,
                                              struct wire_opened *ret_opened);
/* Sends the task and waits for its end. model: supplies the estimate, and receives the rates that
 * the process has measured. */
MUST_CHECK enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                               struct solver *model);
/* Waits until wakeup is readable or the process is lost. */
MUST_CHECK enum task_loss worker_process_wait_idle(struct worker_process *process);
/* Ends the process because of *loss. With TASK_LOSS_NONE the process is asked to exit and gets time
 * to do so. If it exited by itself (TASK_LOSS_EXIT), *loss becomes TASK_LOSS_EXIT or
 * TASK_LOSS_SIGNAL, and *ret_code its code or signal. */
void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code);
/* Waits up to wait_ms until wakeup is readable. For a stuck process, waits without limit and
 * returns true if the process has exited. */
bool worker_process_wait(struct worker_process *process, int wait_ms);
