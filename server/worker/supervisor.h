/* The thread of a worker: it takes tasks from the mailbox, opens their files, has them solved,
 * proves the results and posts the tasks home. The solver is in this thread, or in a process that
 * the thread starts, watches, ends when it fails, and replaces. The thread blocks on the disk, on
 * the solver, and on a process that was killed and stays, until that is gone or the daemon leaves.
 */
#pragma once

#include "server/solver/cpu/pool.h"
#include "server/worker/process.h"
#include "server/worker/worker.h"

#include <pthread.h>

/* How tasks reach the solver: by a call in this thread, or as messages to a process. */
struct worker_transport {
    /* Opens the solver, and reports the facts about it. */
    void (*start)(struct worker *worker, struct worker_facts *ret_facts);
    /* Waits for a task, without a limit. */
    enum task_loss (*wait)(struct worker *worker);
    /* The task has its files. Sets its status, unless there is a loss. */
    enum task_loss (*solve)(struct worker *worker, struct task *task);
    /* Closes the solver, for the reason *loss. */
    void (*end)(struct worker *worker, enum task_loss *loss, int *ret_code);
    bool can_restart; /* after a loss */
};

/* A worker, of its own thread but where something else is said. */
struct worker {
    struct worker_config config;
    const struct worker_transport *transport;
    struct worker_health health;
    pthread_t thread;
    struct mailbox *mailbox;
    struct cpu_pool *pool; /* see proof_check */
    /* The solver of the thread, or a model of the one in the process. Any thread estimates. */
    struct solver *_Atomic solver;
    struct task_solver own; /* of a thread */
    struct worker_process process;
    atomic_bool is_stopping; /* set by any thread, then supervisor_wake: no task is in hand */
    int backoff_ms;
};

/* On failure too supervisor_finish frees what there is. */
MUST_CHECK enum status supervisor_init(struct worker *worker);
void supervisor_finish(struct worker *worker);
/* Takes tasks from the mailbox until is_stopping, and refuses what comes until it is closed. */
void supervisor_run(struct worker *worker);
/* There is mail, or the supervisor is to stop: the mailbox calls it, with the worker. Any thread.
 */
void supervisor_wake(void *worker);
