/* A worker: one solver on one device. It opens the files of a task, has the solver fill the result,
 * proves rows of the result, and posts the task back to the scheduler; one task at a time.
 *
 * Each worker has a thread of the daemon. The solver runs in that thread, or in a process that the
 * thread starts, watches, kills when it fails, and replaces: a crash or a hang ends only that
 * process, and the job is tried again. The thread blocks on the disk, on the solver, and on a
 * killed process that does not exit. */
#pragma once

#include "server/config.h"
#include "server/worker/task_solver.h"

enum worker_state {
    WORKER_READY = 0,
    WORKER_RESTARTING, /* the process has ended and another is being started */
    WORKER_LOST        /* a thread's device failed, or a killed process is stuck in a driver call */
};

/* State of a worker. Written by its own thread, read by any thread. */
struct worker_health {
    _Atomic enum worker_state state;
    atomic_uint_fast64_t restarts; /* processes started after the first */
};

struct worker_launcher;

struct worker_config {
    struct worker_setup setup;
    const struct worker_launcher *launcher; /* borrowed; NULL = no ranks */
    enum worker_isolation isolation;
    uint32_t stall_s; /* limit on the time without heartbeat or progress of a process */
    struct task_folders folders;
    struct mailbox *home; /* the loop's mailbox: receives finished tasks; woken by a new process */
    void (*finished)(struct message *message); /* deliver function of a finished task */
};

struct worker;

MUST_CHECK enum status worker_start(const struct worker_config *config, struct worker **ret_worker);
/* Waits until the worker has opened its solver for the first time, and returns the report, which is
 * valid until worker_stop. */
const struct worker_facts *worker_wait_opened(struct worker *worker);
/* Gives a task to a worker that has none and has not been dismissed. Never blocks. The worker
 * borrows the task until it is posted back. */
void worker_give(struct worker *worker, struct task *task);
/* Returns the signal of the current task, in memory that a worker process shares. */
struct task_signal *worker_signal(struct worker *worker);
/* Returns the worker's health, which is valid until worker_stop. */
const struct worker_health *worker_health_of(const struct worker *worker);
/* Returns a solver for estimates only: the worker's own solver, or a model of its process's solver.
 * NULL until a solver has been opened. Any thread. */
const struct solver *worker_solver(const struct worker *worker);
/* Makes the worker kill a hung process sooner, because the daemon is about to exit. */
void worker_hurry(struct worker *worker);
/* Asks the worker to end after the current task, without waiting, so that several workers can end
 * at once; worker_stop waits. */
void worker_dismiss(struct worker *worker);
/* Ends the worker after the current task, joins its thread and frees it. Accepts NULL. */
void worker_stop(struct worker *worker);
