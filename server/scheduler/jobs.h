/* A job: one request to solve one stored graph, from its acceptance to the end of its history; and
 * the table of all jobs that are remembered, which owns them. Loop thread; only the signal of a job
 * is seen by a worker. */
#pragma once

#include "proto/job_document.h"
#include "server/scheduler/ledger.h"
#include "server/scheduler/names.h"
#include "server/scheduler/queue.h"
#include "server/solver/hierarchy/update.h"
#include "server/store/catalogue.h"
#include "server/worker/task.h"

#include <sys/queue.h>

#define TRACE_ID_SIZE 33

struct call;
struct graph_entry;
struct tenant;

/* The life of a job, enum job_state of proto/job_document.h:
 *
 *   QUEUED     in the queue of queue.h; accept.c, or finish.c when its worker or the disk failed
 *   RUNNING    a worker has its task; dispatch.c
 *   DONE       its result is published; finish.c, or submit.c where the graph had one
 *   FAILED     report.problem says why; finish.c
 *   CANCELLED  by a request; finish.c
 *
 * and beside it what of the job is in the catalogue. */
enum job_durability {
    JOB_ACCEPTING = 0, /* nothing yet: only its Idempotency-Key finds the job */
    JOB_ACCEPTED,      /* its row: the job is visible and acknowledged; accept.c */
    JOB_END_STORED     /* its end: the job may be forgotten; finish.c */
};

/* Why a job that a worker has is to stop. A later reason overrules an earlier one. */
enum job_stop {
    JOB_STOP_NONE = 0,
    JOB_STOP_DRAIN,    /* it goes back into the queue */
    JOB_STOP_DEADLINE, /* it fails */
    JOB_STOP_CANCEL
};

struct job {
    /* As the catalogue is to have it, without its report, which is decoded below. */
    struct job_row row;
    bool is_scaled; /* the decimals of its graph are solved as i4 */
    struct job_report report;
    struct tenant *tenant;     /* the owner */
    struct graph_entry *graph; /* NULL once it is deleted, or if it is lost */

    uint64_t quota_bytes;       /* of the key that asked, 0 = none, or it is from an earlier run */
    double deadline_at_s;       /* monotonic; 0 = none */
    double parse_s;             /* spent reading the upload */
    double look_s;              /* spent ordering the graph, before its form was chosen */
    bool is_look_fresh;         /* the order was found then */
    double expected_s;          /* guessed when the job enters the queue; 0 = not known */
    uint32_t vertex_count;      /* of its graph, while it waits for a worker */
    struct task_signal *signal; /* its own, or while it runs the worker's */
    struct task_signal own_signal;

    struct capacity held; /* nothing once it has ended */

    enum job_durability durability;
    uint32_t changes;       /* on their way to the disk */
    uint32_t attempts;      /* that lacked room */
    enum job_stop stop;     /* why signal.cancelled was set */
    struct name_move move;  /* of report.moves, until the end is stored */
    struct solve_arc *arcs; /* in which its graph differs from its parent, owned; or NULL */
    size_t arc_count;

    LIST_HEAD(, call) acceptors; /* wait for accepted */
    LIST_HEAD(, call) waiters;   /* long-polls, wait for a change of state */
    bool is_changed;             /* since its waiters were woken last */
    struct job *next_changed;

    struct job_share *share; /* NULL: it is not in the queue */
    struct job_place place;  /* in its line of the share */
    TAILQ_ENTRY(job) in_line;

    uint64_t number;           /* in the order of acceptance */
    TAILQ_ENTRY(job) in_table; /* all jobs */
    TAILQ_ENTRY(job) in_list;  /* unfinished or history of the table */
    bool is_history;
    LIST_ENTRY(job) of_tenant;
    LIST_ENTRY(job) of_graph;
};

/* A new one, with a fresh id. */
MUST_CHECK enum status job_create(const char *graph_id, enum kind kind, double wall_s,
                                  struct job **ret_job);
/* One read back from the catalogue: accepted. STATUS_CORRUPT for a report that is none. */
MUST_CHECK enum status job_restore(const struct job_row *row, struct job **ret_job);
void job_destroy(struct job *job);

/* Notes what the job costs by its graph, and the index of that in limits and paces. */
void job_set_graph(struct job *job, uint32_t vertex_count, const struct graph_summary *summary);
static inline uint32_t job_cost(const struct job *job)
{
    return job->is_scaled ? COST_DECIMALS : (uint32_t)job->row.kind;
}

/* Has the worker stop the job. */
void job_stop(struct job *job, enum job_stop reason);
/* The share of a running job's time that has passed: never less than it was, 1 once done. */
double job_progress(const struct job *job, double monotonic_s);
/* Seconds left of a running job. Below 0 = not known. */
double job_eta_s(const struct job *job, double monotonic_s);
/* The trace id, in the log, of the request that submitted the job; empty without one. */
void job_trace_id(const struct job *job, char ret_id[TRACE_ID_SIZE]);
/* The same of a traceparent, which may be empty. */
void job_trace_id_of(const char *traceparent, char ret_id[TRACE_ID_SIZE]);

/* The table finds jobs by tenant and id, by tenant and idempotency key, and in order of creation.
 */

/* Balanced trees (tsearch of the C library) over the same jobs. */
struct job_table {
    void *by_id;
    void *by_key;
    uint64_t last_number;
    struct job_list all;        /* the oldest first */
    struct job_list unfinished; /* by creation, until job_table_end */
    struct job_list history;    /* by end */
    size_t history_count;
};

MUST_CHECK enum status job_table_create(struct job_table **ret_table);
void job_table_destroy(struct job_table *table);

/* Takes the job, as the newest. */
MUST_CHECK enum status job_table_add(struct job_table *table, struct job **take_job);
/* The job has ended: it is history. */
void job_table_end(struct job_table *table, struct job *job);
/* Forgets and frees it. */
void job_table_remove(struct job_table *table, struct job *job);

/* NULL when there is none. A job not yet accepted is not found by its id, only by its key: a
 * repeated request must find it. */
struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id);
struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key);
