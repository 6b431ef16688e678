/* A job: one request to solve one stored graph, from its acceptance to the end of its history.
 * Owned by the job table, on the loop thread; only its signal is seen by a worker. */
#pragma once

#include "proto/job_document.h"
#include "server/job/work.h"
#include "server/store/catalogue.h"

#define TRACE_ID_SIZE 33

struct ask;
struct job_share;
struct tenant;

/* Of a waiting job in its line, counted from some job before it, perhaps long gone: what lies
 * between two jobs is the difference. */
struct job_place {
    uint64_t number;
    double cubes[KIND_COUNT]; /* of the vertices of the jobs before it, by kind */
};

struct job {
    char id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE]; /* the graph may be gone once the job has ended */
    enum job_state state;
    enum kind kind;
    int priority;
    bool verify;
    double deadline_s;    /* after created_s, 0 = none */
    double deadline_at_s; /* the same on the monotonic clock */
    double created_s;
    double started_s;
    double finished_s;
    double parse_s;        /* spent reading the upload */
    uint32_t vertex_count; /* of its graph, while it waits for a worker */
    char idempotency_key[IDEMPOTENCY_KEY_SIZE];
    char fingerprint[sizeof(((struct job_row *)0)->fingerprint)];
    struct job_report report;
    struct work_signal *signal; /* its own, or while it runs the worker's */
    struct work_signal own_signal;

    uint64_t promised_bytes; /* of the disk, for its result; 0 once it has ended */

    bool accepted;           /* its row is in the catalogue: visible and acknowledged */
    bool committed;          /* so is its end */
    uint32_t changes;        /* on their way to the disk */
    uint32_t attempts;       /* that lacked room */
    enum status stop_reason; /* why signal.cancelled was set; STATUS_OK = it was not */
    struct graph *graph;     /* kept from the upload for the worker, NULL = read from the file */

    struct ask *acceptors; /* wait for accepted */
    struct ask *waiters;   /* long-polls, wait for a change of state */

    struct tenant *tenant;  /* whose it is */
    uint64_t pledged_bytes; /* of its tenant's, until it ends */

    struct job_place place; /* in its queue */
    struct job_share *share;
    struct job *ahead;
    struct job *behind;
    struct job *older; /* in the table */
    struct job *newer;
};

/* A new one, with a fresh id. */
MUST_CHECK enum status job_create(const char *graph_id, enum kind kind, double wall_s,
                                  struct job **ret_job);
/* One read back from the catalogue: accepted. STATUS_CORRUPT for a report that is none. */
MUST_CHECK enum status job_restore(const struct job_row *row, struct job **ret_job);
void job_destroy(struct job *job);

/* The row as of now; report is borrowed by the row. */
void job_fill_row(const struct job *job, const char *report, struct job_row *ret_row);
/* 0..1 by rounds done and what the solver expects to follow them; 1 once done. */
double job_progress(const struct job *job);
/* Seconds left of a running job: what the solver expects, until the pace of the rounds shows, and
 * at the end the way out of the result. Below 0 = not known. */
double job_eta_s(const struct job *job, double monotonic_s);
/* By which the log finds the trace of the request that brought the job; empty without one. */
void job_trace_id(const struct job *job, char ret_id[TRACE_ID_SIZE]);
/* The same of a traceparent, which may be empty. */
void job_trace_id_of(const char *traceparent, char ret_id[TRACE_ID_SIZE]);
/* What it takes at these seconds per cubed vertex, by kind. */
double job_expected_s(const struct job *job, const double pace_s[KIND_COUNT]);
/* Bytes of the graph that it keeps. */
size_t job_graph_bytes(const struct job *job);
