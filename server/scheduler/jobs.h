/* A job: one request to solve one stored graph, from its acceptance until it leaves the history;
 * and the table of all known jobs, which owns them. Loop thread; workers access only the signal. */
#pragma once

#include "proto/job_document.h"
#include "server/scheduler/ledger.h"
#include "server/scheduler/names.h"
#include "server/scheduler/queue.h"
#include "server/solver/hierarchy/update.h"
#include "server/store/catalogue.h"
#include "server/worker/task.h"

#include <sys/queue.h>

/* The life of a job (enum job_state of proto/job_document.h), with the file that sets each state:
 *
 *   QUEUED     in the queue of queue.h; accept.c, or finish.c when its worker or the disk failed
 *   RUNNING    a worker has its task; dispatch.c
 *   DONE       its result is published; finish.c, or submit.c where the graph had one
 *   FAILED     report.problem says why; finish.c
 *   CANCELLED  by a request; finish.c
 *
 * In addition, enum job_durability says which part of the job is in the catalogue. */
enum job_durability {
    JOB_ACCEPTING = 0, /* nothing in the catalogue yet: only its Idempotency-Key finds the job */
    JOB_ACCEPTED,      /* row stored: the job is visible and acknowledged; accept.c */
    JOB_END_STORED     /* end stored: the job may leave the history; finish.c */
};

/* Why a running job must stop. A later enumerator overrules an earlier one. */
enum job_stop {
    JOB_STOP_NONE = 0,
    JOB_STOP_DRAIN,    /* the service stops; the job returns to the queue */
    JOB_STOP_DEADLINE, /* the deadline has passed; the job fails */
    JOB_STOP_CANCEL
};

struct job {
    /* The row for the catalogue, except its report, which is decoded below. */
    struct job_row row;
    uint32_t cost; /* graph_cost of its graph and kind */
    struct job_report report;
    struct tenant *tenant;     /* owner of the job */
    struct graph_entry *graph; /* NULL once the graph is deleted or lost */

    uint64_t quota_bytes;       /* storage quota of the submitting key; 0 = none or unknown */
    double deadline_at_s;       /* in monotonic time; 0 = none */
    double parse_s;             /* time spent reading the upload */
    double look_s;              /* time spent ordering the graph before its form was chosen */
    bool is_look_fresh;         /* the order was computed for this job, not read from the cache */
    double expected_s;          /* solve time estimated when the job is queued; 0 = unknown */
    uint32_t vertex_count;      /* number of vertices of the graph */
    struct task_signal *signal; /* signal of the worker that runs the job; NULL = not running */
    double progress;            /* progress at the time when a worker returned the job */

    struct capacity held; /* amounts reserved for the job; zero once it has ended */

    enum job_durability durability;
    uint32_t changes;       /* number of commits on their way to the disk */
    uint32_t attempts;      /* number of attempts that failed for lack of memory, files or disk */
    enum job_stop stop;     /* reason why signal->cancelled is set */
    struct name_move move;  /* move of the name report.moves, until the job's end is stored */
    struct solve_arc *arcs; /* arcs that differ from the parent graph, owned; or NULL */
    size_t arc_count;

    LIST_HEAD(, call) acceptors; /* calls that wait until the job is accepted */
    LIST_HEAD(, call) waiters;   /* calls that wait for a change of state */
    bool is_changed;             /* changed since its waiters were last woken */
    struct job *next_changed;

    struct job_share *share; /* NULL = not in the queue */
    TAILQ_ENTRY(job) in_line;
    struct job_place before; /* jobs before it in its share; valid while job_queue.is_counted */

    uint64_t number;          /* number in the order of acceptance */
    TAILQ_ENTRY(job) in_list; /* link in unfinished or history of the table */
    bool is_history;
    LIST_ENTRY(job) of_tenant;
    LIST_ENTRY(job) of_graph;
};

/* Creates a job with a new ID. */
MUST_CHECK enum status job_create(const char *graph_id, enum kind kind, double wall_s,
                                  struct job **ret_job);
/* Creates an accepted job from its catalogue row. An unreadable report is dropped. */
MUST_CHECK enum status job_restore(const struct job_row *row, struct job **ret_job);
void job_destroy(struct job *job);

/* Sets the vertex count and the cost. */
void job_set_graph(struct job *job, uint32_t vertex_count, const struct graph_summary *summary);

/* Asks the worker to stop the job. */
void job_stop(struct job *job, enum job_stop reason);
/* Returns the progress of a job at this time, from 0 to 1. It is 1 only once the job is done. */
double job_progress(const struct job *job, double monotonic_s);
/* Returns the remaining seconds of a running job; below 0 = unknown. */
double job_eta_s(const struct job *job, double monotonic_s);
/* Returns the trace ID of a traceparent header; both may be empty. */
struct trace_id {
    char text[33];
};
struct trace_id job_trace_id(const char *traceparent);

/* The table finds jobs by tenant and ID, and by tenant and idempotency key, and lists them in order
 * of creation. by_id and by_key are balanced trees (tsearch of the C library) of the jobs. */
struct job_table {
    void *by_id;
    void *by_key;
    uint64_t last_number;
    struct job_list unfinished; /* in order of creation; job_table_end removes a job */
    struct job_list history;    /* in the order in which the jobs ended */
    size_t history_count;
};

void job_table_init(struct job_table *table);
void job_table_finish(struct job_table *table);

/* Moves the job into the table, as the newest. */
MUST_CHECK enum status job_table_add(struct job_table *table, struct job **take_job);
/* Moves a job that has ended to the history. */
void job_table_end(struct job_table *table, struct job *job);
/* Removes and frees the job. */
void job_table_remove(struct job_table *table, struct job *job);

/* Both find functions return NULL if there is no such job. A job that is not yet accepted is found
 * only by its idempotency key, because a repeated request must find it. */
struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id);
struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key);
