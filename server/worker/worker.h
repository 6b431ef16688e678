/* One solver, one device: a worker carries out one task at a time and posts it back to the
 * scheduler with its outcome. It opens the files of the task, has the solver fill the result, and
 * proves rows of the result.
 *
 * Each worker has a thread of the daemon. The solver runs in that thread, or in a process that the
 * thread starts, watches, kills when it fails, and replaces: a crash or a hang costs only that
 * process, and the job is tried again. Only the transport of tasks to the solver differs. The
 * thread blocks on the disk, on the solver, and on a killed process that stays, until that is gone
 * or the daemon leaves. */
#pragma once

#include "server/config.h"
#include "server/worker/task_solver.h"

enum worker_state {
    WORKER_READY = 0,
    WORKER_RESTARTING, /* its process has ended; another is on its way */
    WORKER_LOST /* a thread's: for good. A process's: until that, killed and stuck in a call of
                 * its driver, is gone */
};

/* How a worker is and was. Written by its own thread, read by any. */
struct worker_health {
    _Atomic enum worker_state state;
    atomic_uint_fast64_t restarts; /* processes started after the first */
};

/* Posted once, when the solver was opened for the first time. */
struct worker_opening {
    struct message message;
    void *context; /* the scheduler's */
    struct worker_facts facts;
};

struct worker_launcher;

struct worker_config {
    struct worker_setup setup;
    const struct worker_launcher *launcher; /* borrowed; NULL = none, the worker is on this host */
    enum worker_isolation isolation;
    uint32_t stall_s;     /* of a process */
    uint32_t sample_rows; /* of every result, proven before it goes home */
    struct task_folders folders;
    struct mailbox *home; /* of the loop: gets finished tasks, and is woken by a new process */
    void (*finished)(struct message *message); /* deliver of the task on its way home */
    struct worker_opening *opening;            /* the caller's, its deliver set by the caller */
};

struct worker;

MUST_CHECK enum status worker_start(const struct worker_config *config, struct worker **ret_worker);
/* The worker has no task and is not dismissed. Never blocks. The task is lent until it is posted
 * home. */
void worker_give(struct worker *worker, struct task *task);
/* Where the signal of a task must lie; NULL = anywhere. */
struct task_signal *worker_signal(const struct worker *worker);
/* Lives as long as the worker. */
const struct worker_health *worker_health_of(const struct worker *worker);
/* For estimates alone, by any thread: the solver, or a model of the one in the process. NULL until
 * the first opening. */
const struct solver *worker_solver(const struct worker *worker);
/* The daemon is about to leave: a process that hangs is ended sooner. */
void worker_hurry(struct worker *worker);
/* It ends after the task in hand; worker_stop waits for that. So many end at once. */
void worker_dismiss(struct worker *worker);
/* Ends after the task in hand; joins the thread; frees. NULL is accepted. */
void worker_stop(struct worker *worker);
