/* One solver, one device: takes one job at a time from its mailbox and posts it back to the loop
 * with its outcome. It reads the graph file, makes the result file, solves into it, and checks the
 * result before it lets it go.
 *
 * Its loop (loop.h) runs in a thread of the daemon, or in a process of its own that a thread of the
 * daemon supervises (supervisor.h): a crash or a hang there costs only that process, and the job is
 * tried again in another. */
#pragma once

#include "server/config.h"
#include "server/job/worker/setup.h"
#include "server/job/worker/task.h"

enum worker_state {
    WORKER_READY = 0,
    WORKER_RESTARTING, /* its process has ended; another is on its way */
    WORKER_LOST /* a thread's: for good. A process's: until that, killed and stuck in a call of
                 * its driver, is gone */
};

/* How a worker is and was. Written by its keeper, read by any thread. */
struct worker_health {
    _Atomic enum worker_state state;
    atomic_bool telling;                               /* the opening is on its way to the loop */
    atomic_uint_fast64_t restarts;                     /* processes started after the first */
    atomic_uint_fast64_t losses[TASK_LOSS_BABBLE + 1]; /* processes lost, by reason */
};

/* Told at the first opening, with the facts, and again each time the worker can take jobs again;
 * the facts stay as they were first. */
struct worker_opening {
    struct message message;
    void *context; /* the scheduler's */
    struct worker_facts facts;
};

struct worker_config {
    const struct solver_config *solver;
    bool gpu; /* which back end */
    uint32_t gpu_index;
    enum worker_isolation isolation;
    uint32_t stall_s;     /* of a process */
    uint32_t sample_rows; /* of every result, checked before it goes home */
    bool sandboxed;       /* a process is: what it can do without it gives up */
    int graph_folder;
    int result_folder;
    struct mailbox *home;                      /* where finished work is posted: the loop's */
    void (*finished)(struct message *message); /* deliver of the task on its way home */
    struct worker_opening *opening;            /* the caller's, its deliver set by the caller */
};

struct worker;

MUST_CHECK enum status worker_start(const struct worker_config *config, struct worker **ret_worker);
/* Never blocks. Takes the task until it comes home. */
void worker_give(struct worker *worker, struct task *task);
/* Where the signal of a task must lie; NULL = anywhere. */
struct task_signal *worker_signal(const struct worker *worker);
/* Lives as long as the worker. */
struct worker_health *worker_health_of(struct worker *worker);
/* The loop has the opening: the next may be posted. */
void worker_health_told(struct worker_health *health);
/* For the worker's own thread: posts to the loop that the worker is ready, unless such a message is
 * on its way. */
void worker_health_tell(const struct worker_config *config, struct worker_health *health);
/* Estimates a large solve, with the pace that the solver has measured so far. Any thread. */
void worker_estimate(const struct worker *worker, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, struct solver_estimate *ret_estimate);
/* Estimates the solve of this graph: makes the plan that the solve would use, and drops it again.
 * Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_estimate_graph(const struct worker *worker, const struct graph *graph,
                                             enum kind kind, struct solver_estimate *ret_estimate,
                                             struct plan_summary *ret_plan);
/* The daemon is about to leave: a process that hangs is ended sooner. */
void worker_hurry(struct worker *worker);
/* It ends after the job in hand; worker_stop waits for that. So many end at once. */
void worker_dismiss(struct worker *worker);
/* Ends after the job in hand; joins the thread; frees. NULL is accepted. */
void worker_stop(struct worker *worker);
