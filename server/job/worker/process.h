/* A process of this program that runs the worker's loop, as the daemon sees it: started, told what
 * to do over its socket, watched all the while, and ended. Whatever it should not do is a loss,
 * after which it is to be ended. Owned by the thread that started it, and ended by the kernel when
 * that thread or the daemon ends. */
#pragma once

#include "server/job/worker/worker.h"

#include <sys/types.h>

/* Whether a worker process still does its task: judged from the memory that it shares, tick by tick
 * of the daemon's own time, so that a daemon that was itself stopped blames nobody.
 *
 * A process must send heartbeats, and a task must make progress: within stall_s, and longer only
 * where rounds take longer. Among even rounds that is 20 times the longest so far. Where a plan has
 * few rounds, of which the last are by far the longest, it is also 4 times all that the task has
 * taken so far. Before the first round and after the last, where nothing tells, it is what the
 * daemon allows for the whole task. An opening, which has no task, may take what is allowed and no
 * longer. A plain value of the thread that watches. */
struct worker_watch {
    const struct task *task; /* has its signal in the shared memory; NULL = none */
    double stall_s;
    double allowance_s; /* outside the rounds */
    bool is_hurried;    /* waits no longer than five seconds for what comes often */
    /* All in seconds of ticks. */
    double elapsed_s;
    double silence_s;
    double gap_s;
    double longest_gap_s;
    uint32_t heartbeats;
    uint64_t progress;
};

/* Without a task only heartbeats are waited for, unless something is allowed. */
void worker_watch_begin(struct worker_watch *watch, const struct task *task, double stall_s,
                        double allowance_s);
/* After tick_s. */
enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s);

struct worker_process {
    /* Set before the first start; borrowed. */
    struct worker_shared *shared;
    int shared_descriptor;
    int wakeup; /* an eventfd that ends a wait */
    uint32_t stall_s;
    atomic_bool is_hurried; /* the daemon is about to leave: set by any thread */

    pid_t pid;
    int pidfd;
    int socket; /* does not block */
    bool is_running;
    bool is_stuck; /* killed, and not gone yet: a call of its driver does not return. Until that
                    * does, it holds its device */
    struct worker_watch watch;
    double looked_at_s; /* by the watch */
};

/* STATUS_NO_MEMORY when no process can be had. */
MUST_CHECK enum status worker_process_start(struct worker_process *process);
/* After the start: what it has to say of its solver, checked. ret_opened is zero on a loss. */
MUST_CHECK enum task_loss worker_process_open(struct worker_process *process,
                                              const struct worker_setup *setup,
                                              struct wire_opened *ret_opened);
/* Sends the task, and waits for its end. model: estimates, and learns the figures that the process
 * has learned. */
MUST_CHECK enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                               struct solver *model);
/* Until wakeup is readable, or the process is lost. */
MUST_CHECK enum task_loss worker_process_idle(struct worker_process *process);
/* Ends it, for the reason *loss; with TASK_LOSS_NONE it is told to leave, and has time for it. One
 * that ended by itself, TASK_LOSS_EXIT, gets the way how: TASK_LOSS_EXIT or TASK_LOSS_SIGNAL. */
void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code);
/* Until wakeup is readable, for wait_ms at most. One that is stuck is waited for as long as it
 * takes; true when it is gone. */
bool worker_process_wait(struct worker_process *process, int wait_ms);
