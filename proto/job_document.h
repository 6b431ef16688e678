/* The public documents about jobs, graphs and estimates: plain snapshots and their JSON text. The
 * caller frees the text; NULL means out of memory. A snapshot borrows its pointers for the call
 * that prints it. Pure functions for any thread. */
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
/* Size with the NUL of "00-<32 hexadecimal digits>-<16>-<2>" (W3C Trace Context). */
#define TRACEPARENT_SIZE 56

enum job_state {
    JOB_QUEUED = 0,
    JOB_RUNNING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATE_COUNT
};

/* Returns "queued", "running", "done", "failed" or "cancelled". */
const char *job_state_name(enum job_state state);
bool job_state_from_name(const char *name, enum job_state *ret_state);
/* Returns "planning", "solving", "writing", "checking" or "publishing". */
const char *job_phase_name(enum solve_phase phase);
/* Returns whether the state is done, failed or cancelled and will not change again. */
bool job_state_is_final(enum job_state state);

/* Report on the solve of a job: the part of its document that the catalogue stores as one text. */
struct job_report {
    char *stored; /* text of a report from the catalogue, owned; or NULL. Documents get the members
                     about the solve from this text, not from the members below. */
    char *input;  /* report on the upload as text from input_report_print, owned; or NULL */
    bool cached;  /* whether the result already existed */
    char *warnings; /* warnings about the upload as JSON text from warning_print, owned; or NULL */
    char traceparent[TRACEPARENT_SIZE]; /* trace context of the submitting request, or empty */
    char solver[8];                     /* "gpu" or "cpu"; empty until a solver has started */
    char device[64];
    struct timings timings;
    uint32_t device_count; /* number of GPUs that solved the graph together, or 0 */
    struct device_share devices[SOLVE_DEVICES_MAX];
    struct plan_summary plan;
    struct result_summary result; /* result; its form is chosen when the job is accepted */
    struct verification verification;
    struct problem problem; /* problem of the job; STATUS_OK = none */
    char *cycle;            /* JSON array of the vertices of a negative cycle, owned; or NULL */
    double cycle_weight;
    uint32_t workers_lost;      /* worker processes lost while they solved this job */
    char parent[GRAPH_ID_SIZE]; /* ID of the graph that was changed into this one; empty = none */
    char moves[JOB_NAME_SIZE];  /* alias to move to the graph when it is done; empty = none */
};

void job_report_finish(struct job_report *report);
/* Clears the results of a solve before a retry. Keeps the submission and the time already spent. */
void job_report_reset(struct job_report *report);
/* Prints the report as JSON for the catalogue; the caller frees it. NULL when out of memory. */
char *job_report_encode(const struct job_report *report);
/* Reads the members that a later job needs; documents get the other members from `stored`. */
MUST_CHECK enum status job_report_decode(const char *text, struct job_report *ret_report);

struct job_document {
    const char *id;
    const char *graph_id;
    const char *graph_name; /* alias of the graph, or NULL */
    enum job_state state;
    uint32_t position; /* number of jobs ahead in the queue; 0 = this job is next, or not queued */
    double progress;   /* fraction of the solve that is done, 0 to 1 */
    const char *phase; /* name from job_phase_name; NULL unless the job runs */
    double eta_s;      /* expected seconds until the end of the job; below 0 = unknown */
    bool durable;
    int priority;
    double created_s; /* seconds since 1970, like started_s and finished_s; 0 = not yet */
    double started_s;
    double finished_s;
    double deadline_s; /* deadline in seconds after created_s; 0 = none */
    enum kind kind;
    uint32_t vertex_count;
    uint64_t edge_count;
    bool directed;
    const struct graph_summary *summary; /* NULL when the graph has been deleted */
    const struct job_report *report;     /* report on the solve; NULL before the first report */
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
    const char *parent;      /* ID of the graph that was changed into this one; empty = none */
    enum kind kind;          /* kind of the latest result, which may still be in preparation */
    const char *result_kind; /* kind of the result from which queries are answered, or NULL */
    const char *job_id;      /* latest job on this graph, or NULL */
    const struct input_report *input; /* report on the upload in this request, or NULL */
    const char *warnings;             /* warnings about the upload from warning_print, or NULL */

    const char *coordinate_system; /* "degrees" or "plane", or NULL without coordinates */
    uint32_t located;              /* number of vertices that have coordinates */
};

char *graph_document_print(const struct graph_document *document);

/* Size of the buffers for the texts of an estimate. */
#define ESTIMATE_TEXT_SIZE 320

/* Estimate of the time and memory of a solve that has not been submitted: a plain value. */
struct estimate {
    uint32_t vertex_count;
    uint64_t edge_count;
    enum kind kind;
    uint32_t cost;      /* index into tables of limits, from graph_cost */
    const char *solver; /* "gpu" or "cpu" */
    const char *device;
    uint64_t device_bytes; /* device memory; 0 for the CPU solver */
    uint64_t host_bytes;   /* host memory with the graph and the mapped result */
    uint64_t disk_bytes;   /* size of the graph file and the result file */
    double seconds;        /* expected time of the dense solve; below 0 = unknown */
    struct result_summary result;
    uint32_t vertex_limit; /* largest number of vertices accepted for this kind */
    uint64_t edge_limit;
    uint64_t free_disk_bytes;
    bool fits;
    char reason[ESTIMATE_TEXT_SIZE]; /* why the graph does not fit */
    char hint[ESTIMATE_TEXT_SIZE];   /* what would make the graph fit */
};

char *estimate_print(const struct estimate *estimate);

/* Prints a time as RFC 3339 in UTC with milliseconds. */
void time_print(double seconds, char buffer[TIME_TEXT_SIZE]);
