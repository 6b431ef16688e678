/* The public documents about jobs, graphs and estimates: plain snapshots and their JSON form, text
 * that the caller frees, NULL when out of memory. A snapshot borrows its pointers for the call that
 * prints it. */
#pragma once

#include "proto/graph.h"
#include "proto/input_report.h"
#include "proto/plan.h"
#include "proto/problem.h"
#include "proto/result_form.h"
#include "proto/solve.h"
#include "proto/verification.h"

#define JOB_ID_SIZE 29   /* "j_", 26 characters of a ULID, NUL */
#define GRAPH_ID_SIZE 29 /* "g_", 26 characters of base32, NUL */
#define JOB_NAME_SIZE 128
#define TIME_TEXT_SIZE 32
/* "00-<32 hexadecimal digits>-<16>-<2>" (W3C Trace Context), NUL */
#define TRACEPARENT_SIZE 56

enum job_state {
    JOB_QUEUED = 0,
    JOB_RUNNING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATE_COUNT
};

/* "queued", "running", "done", "failed", "cancelled". */
const char *job_state_name(enum job_state state);
bool job_state_from_name(const char *name, enum job_state *ret_state);
/* "planning", "solving", "writing", "checking", "publishing". */
const char *job_phase_name(enum solve_phase phase);
/* done, failed or cancelled: the state will not change any more. */
bool job_state_is_final(enum job_state state);

/* Report of the solve of a job: the part of its document that is kept as one text in the
 * catalogue. */
struct job_report {
    struct input_report input;          /* of the upload that brought the graph */
    bool cached;                        /* the result was there already */
    char *warnings;                     /* about the upload, by warning_print, owned; or NULL */
    double reached;                     /* share of the pairs that have a path; 0 = not known */
    char traceparent[TRACEPARENT_SIZE]; /* of the request that brought it; empty = none */
    char solver[8];                     /* empty until it started */
    char device[64];
    struct timings timings;
    uint32_t device_count; /* GPUs that solved it together, the first being number 0; or 0 */
    struct device_share devices[SOLVE_DEVICES_MAX];
    struct plan_summary plan;
    struct result_summary result; /* its form is chosen when the job is accepted */
    struct verification verification;
    struct problem problem; /* status STATUS_OK = none */
    char *cycle;            /* JSON array of the vertices of a negative cycle, owned; or NULL */
    double cycle_weight;
    uint32_t workers_lost;      /* solvers that failed for good while they had the job */
    char parent[GRAPH_ID_SIZE]; /* of which its graph is a change; empty = none */
    char moves[JOB_NAME_SIZE];  /* the name that moves to its graph when it is done; empty = none */
};

void job_report_finish(struct job_report *report);
/* Forgets the solve, for it is to come again; where it came from, and what it has cost,
 * stays known. */
void job_report_reset(struct job_report *report);
/* The report as JSON text for the catalogue, freed by the caller; NULL when out of memory. */
char *job_report_encode(const struct job_report *report);
MUST_CHECK enum status job_report_decode(const char *text, struct job_report *ret_report);

struct job_document {
    const char *id;
    const char *graph_id;
    const char *graph_name; /* an alias, or NULL */
    enum job_state state;
    uint32_t position; /* jobs ahead in the queue, 0 = next or not queued */
    double progress;   /* 0..1 */
    const char *phase; /* by job_phase_name; NULL unless it runs */
    double eta_s;      /* below 0 = not known */
    bool durable;
    int priority;
    double created_s; /* seconds since 1970; 0 = did not happen yet */
    double started_s;
    double finished_s;
    double deadline_s; /* seconds after created, 0 = none */
    enum kind kind;
    uint32_t vertex_count;
    uint64_t edge_count;
    bool directed;
    const struct graph_summary *summary; /* NULL when the graph is gone */
    const struct job_report *report;     /* NULL before there is one */
};

char *job_document_print(const struct job_document *document);

struct graph_document {
    const char *id;
    const char *const *names; /* aliases, NULL-terminated; may be NULL */
    double created_s;
    uint32_t vertex_count;
    uint64_t edge_count;
    bool directed;
    uint64_t file_bytes;
    const struct graph_summary *summary;
    const char *parent;               /* of which it is a change; empty = none */
    const char *kind;                 /* of its latest result, or of one that is to be made */
    const char *result_kind;          /* kind of the result that answers queries, or NULL */
    const char *job_id;               /* latest job on this graph, or NULL */
    const struct input_report *input; /* of the upload that is answered, or NULL */
    const char *warnings;             /* about it, by warning_print, or NULL */

    const char *coordinate_system; /* "degrees" or "plane", or NULL without coordinates */
    uint32_t located;              /* vertices that have a place */
};

char *graph_document_print(const struct graph_document *document);

/* Estimate of the time and memory of a solve that has not been submitted: a plain value. */
#define ESTIMATE_TEXT_SIZE 320

struct estimate {
    uint32_t vertex_count;
    uint64_t edge_count;
    enum kind kind;
    uint32_t cost;      /* see graph_cost */
    const char *solver; /* "gpu" or "cpu" */
    const char *device;
    uint64_t device_bytes; /* 0 for the CPU solver */
    uint64_t host_bytes;   /* with the graph and the mapped result */
    uint64_t disk_bytes;   /* of the graph file and the result file */
    double seconds;        /* of the dense solve; below 0 = not known */
    struct result_summary result;
    uint32_t vertex_limit; /* the largest graph of this kind that is taken */
    uint64_t edge_limit;
    uint64_t free_disk_bytes;
    bool fits;
    char reason[ESTIMATE_TEXT_SIZE]; /* why it does not */
    char hint[ESTIMATE_TEXT_SIZE];   /* what would make it fit */
};

char *estimate_print(const struct estimate *estimate);

/* RFC 3339 in UTC with milliseconds. */
void time_print(double seconds, char buffer[TIME_TEXT_SIZE]);
