/* One solver thread, one device: takes a load of jobs from its mailbox, one large or many small,
 * and posts it back to the loop with the outcome of each. It reads the graph files, makes the
 * result files, solves into them. */
#pragma once

#include "proto/job_document.h"
#include "server/job/mailbox.h"
#include "server/solver/solve.h"
#include "server/store/result_file.h"

#include <stdatomic.h>

/* The words that worker and loop share while a job runs; they live in the job, which outlives
 * its work. */
struct work_signal {
    atomic_bool cancelled;
    atomic_uint rounds_done;
    atomic_uint rounds_total;
    /* The pace is judged from the first report on: reading, filling and first touches of the memory
     * come before. */
    atomic_uint first_round;
    _Atomic double first_round_at_s; /* monotonic; 0 = not yet */
    _Atomic double round_at_s;       /* of the last report */
    /* What the solver expects of the whole solve, and of what follows its last round. */
    _Atomic double expected_s;
    _Atomic double finish_s;
    _Atomic double begun_at_s; /* the solve; 0 = not yet, and the two above not set */
};

/* Before a solve: nothing is done yet. */
void work_signal_reset(struct work_signal *signal);

/* A job as the worker sees it. */
struct work {
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct graph *graph; /* NULL: read from its file; owned by the work */
    enum kind kind;
    bool verify;
    struct work_signal *signal; /* borrowed from the job */

    /* Out. */
    enum status status;
    struct problem problem;
    double write_s;
    double parse_s; /* reading the graph file, when it had to be */
    struct solve_outcome outcome;
    struct result_file *file;   /* on STATUS_OK, sealed */
    struct vertex_names *names; /* on STATUS_OK, and with a cycle: of the graph */

    void *context; /* the desk's */
};

/* Frees what the work owns. */
void work_finish(struct work *work);

/* What a worker does at once; moved to the worker and back. More than one: each fits the batch of
 * its kind that the worker told of at its opening. */
struct work_load {
    struct message message;
    struct work *works; /* borrowed until it is home */
    uint32_t count;     /* at least 1 */
    void *context;      /* the desk's */
};

/* What a worker found when it opened its solver. */
struct worker_opening {
    struct message message;
    void *context; /* the desk's */
    enum status status;
    struct solver_device device;
    uint32_t vertex_limit[KIND_COUNT]; /* the largest graph that fits its memory, per kind */
    uint32_t batch_limit[KIND_COUNT];  /* the largest that it solves together with others */
    double pace_s[KIND_COUNT];         /* a large solve's seconds per cubed vertex; 0 = unknown */
    struct problem problem;            /* when status is not STATUS_OK */
};

struct worker_config {
    const struct solver_config *solver;
    bool gpu; /* which back end */
    uint32_t gpu_index;
    int graph_folder;
    int result_folder;
    struct mailbox *home;                      /* where finished work is posted: the loop's */
    void (*finished)(struct message *message); /* deliver of the load on its way home */
    struct worker_opening *opening; /* the caller's: filled in and posted home once, its deliver
                                       set by the caller */
};

struct worker;

MUST_CHECK enum status worker_start(const struct worker_config *config, struct worker **ret_worker);
/* Never blocks. Takes the load until it comes home. */
void worker_give(struct worker *worker, struct work_load *load);
/* What a large solve would take, by what the solver has learned so far. Any thread. */
void worker_estimate(const struct worker *worker, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, struct solver_estimate *ret_estimate);
/* What this graph would take by the plan that it would have, which is made for it. Any thread.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_estimate_graph(const struct worker *worker, const struct graph *graph,
                                             enum kind kind, struct solver_estimate *ret_estimate,
                                             struct plan_summary *ret_plan);
/* Ends after the load in hand; joins the thread; frees. NULL is accepted. */
void worker_stop(struct worker *worker);
