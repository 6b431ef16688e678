/* The thread of a worker that is a process of its own: starts it, gives it tasks, watches it, ends
 * it when it fails, and starts another. It blocks on the disk and on the process, for no longer
 * than struct worker_watch allows; and on one that was killed and stays, until that is gone or the
 * daemon leaves. */
#pragma once

#include "server/worker/worker.h"

#include <pthread.h>
#include <sys/types.h>

/* A process of this program that runs the worker's loop, as the daemon sees it: started, told what
 * to do over its socket, watched all the while, and ended. Whatever it should not do is a loss,
 * after which it is to be ended. Owned by the thread that started it, and ended by the kernel when
 * that thread or the daemon ends. */
struct worker_process {
    /* Set before the first start; borrowed. */
    struct worker_shared *shared;
    int shared_descriptor;
    const struct worker_launcher *launcher; /* NULL = it is one process, of this program */
    int wakeup;                             /* an eventfd that ends a wait */
    uint32_t stall_s;
    atomic_bool is_hurried; /* the daemon is about to leave: set by any thread */

    pid_t pid;  /* of ranks: of the process that starts them */
    int pidfd;  /* readable once it has ended; of ranks: a pipe, which tells how */
    int socket; /* does not block */
    bool is_running;
    bool is_stuck; /* killed, and not gone yet: a call of its driver does not return. Until that
                    * does, it holds its device */
    struct worker_watch watch;
    double looked_at_s; /* by the watch */
};

/* ---- process.c: its start and its end; supervisor.c: what lies between ---- */

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
/* Ends it, for the reason *loss; with TASK_LOSS_NONE it is told to leave, and has time for it. One
 * that ended by itself, TASK_LOSS_EXIT, gets the way how: TASK_LOSS_EXIT or TASK_LOSS_SIGNAL. */
void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code);

/* Until wakeup is readable, for wait_ms at most. One that is stuck is waited for as long as it
 * takes; true when it is gone. */
bool worker_process_wait(struct worker_process *process, int wait_ms);

/* Whether the other end of a connection belongs to the user of this process. */
bool worker_process_is_ours(int socket);

/* ---- worker.c: the loop of a worker, in its thread or in its process ---- */

/* How tasks come to the loop and go back: between threads, or over a socket. It opens the files. */
struct worker_transport {
    void *context;
    /* Once. solver is NULL when it was not opened. */
    void (*opened)(void *context, const struct worker_facts *facts, struct solver *solver);
    /* The next task; NULL ends the loop. With STATUS_OK it has its result file, and a graph or the
     * descriptor of its file. */
    struct task *(*next)(void *context);
    /* The task has its status, and its graph still. */
    void (*done)(void *context, struct task *task, const struct solver *solver);
};

/* Opens the solver, reports the facts about it, and does one task after the other. Returns once the
 * transport has no more. */
void worker_run_loop(const struct worker_setup *setup, const struct worker_transport *transport,
                     const struct ranks *ranks);
/* Before a task the first rank waits here until all ranks have come. */
void worker_meet(const struct ranks *ranks);
/* The loop of all ranks but the first, which tells them what to solve. */
void worker_follow(const struct worker_setup *setup, const struct ranks *ranks);

/* Once its files are open: a task with a base is solved from that, here, by so many threads (0: one
 * a core). One that cannot be is left to its solver. */
void worker_update(uint32_t threads, struct task *task);

/* ---- supervisor.c ---- */

/* A worker, of its own thread but where something else is said. */
struct worker {
    struct worker_config config;
    struct worker_health health;
    pthread_t thread;
    struct mailbox *mailbox;
    struct cpu_pool *pool; /* the thread's, see judge_task */
    /* The loop's in the thread, or a model of the one in the process. Any thread estimates. */
    struct solver *_Atomic solver;
    /* Where the worker is a process: */
    struct worker_process process;
    atomic_bool is_stopping; /* set by any thread, then supervisor_wake: no task is in hand */
    int backoff_ms;
};

/* On failure too supervisor_finish frees what there is. */
MUST_CHECK enum status supervisor_init(struct worker *worker);
void supervisor_finish(struct worker *worker);
/* Takes tasks from the mailbox until is_stopping, and refuses what comes until it is closed. */
void supervisor_run(struct worker *worker);
/* Posts to the scheduler that the worker, of either form, is ready, unless such a message is on its
 * way. */
void supervisor_post_opening(struct worker *worker);
/* There is mail, or the supervisor is to stop: the mailbox calls it, with the worker. Any thread.
 */
void supervisor_wake(void *worker);
