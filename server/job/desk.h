/* The loop's counter: HTTP threads hand in a question, the loop thread answers it.
 *
 * The desk owns, on the loop thread alone, the job table, the graph table, the queue, the waiting
 * long-polls and the workers. What an HTTP thread asks is one struct ask, its until answered() is
 * called (on the loop thread), and its again after. Everything durable goes to the store first:
 * an answer of 201 or 202 is given after the catalogue commit. */
#pragma once

#include "proto/job_document.h"
#include "proto/reader.h"
#include "server/config.h"
#include "server/job/admission.h"
#include "server/job/devices.h"
#include "server/job/mailbox.h"
#include "server/job/tenant.h"
#include "server/job/upload_share.h"
#include "server/store/catalogue.h"
#include "server/store/graph_stream.h"
#include "server/store/result_table.h"
#include "server/store/store.h"

#include <uv.h>

struct desk;

enum ask_kind {
    ASK_SUBMIT,      /* reader, or key of a stored graph; parameters -> 202 or 200, job document */
    ASK_STORE_GRAPH, /* reader; parameters.name -> 201 or 200, graph document */
    ASK_JOB,         /* key = job id; wait_s: until the state changes -> 200 */
    ASK_EVENTS,   /* key = job id; seen -> 200, the next piece of a stream of events; 204, none to
                     come */
    ASK_JOBS,     /* list filter -> {"jobs":[..],"next":cursor|null} */
    ASK_CANCEL,   /* key = job id -> 202, 409 JobFinished */
    ASK_GRAPHS,   /* list filter -> {"graphs":[..],"next":cursor|null} */
    ASK_GRAPH,    /* key = graph id, alias or job id -> 200; ret graph_id */
    ASK_ESTIMATE, /* key, else vertex_count and edge_count; parameters.kind -> 200 */
    ASK_DELETE_GRAPH, /* key -> 204 (status OK, no body), 409 GraphInUse while a job uses it */
    ASK_RESULT        /* key that the result table does not have; wait_s -> OK once it has,
                         else NoSuchGraph, NoSuchJob or NotSolved with job_id of the job to watch */
};

/* What a request says about the job, beside the graph. */
struct job_parameters {
    enum kind kind;
    int priority;      /* 0..9, 9 first */
    double deadline_s; /* seconds from now, 0 = none */
    bool verify;
    char name[NAME_SIZE]; /* alias for the graph, empty = none */
};

/* "<state>-<milliseconds since 1970>": when the job came into that state. */
#define EVENT_ID_SIZE 40

/* How far a stream of events has come: in its ask from piece to piece, brought up to date by the
 * desk. */
struct event_place {
    char seen[EVENT_ID_SIZE]; /* id of the last state sent, or what the client says it was; empty */
    bool begun;               /* the first piece, which is never waited for, has been made */
    bool ended;               /* this piece is the last */
    uint32_t position;        /* last told */
    double progress;
};

#define REQUEST_ID_SIZE 65

struct ask {
    struct message message; /* of the mailbox on the way in */
    enum ask_kind kind;

    /* In. */
    struct tenant *tenant; /* who asks; NULL = nobody */
    struct quota quota;    /* of the key that was shown */
    char key[RESULT_KEY_SIZE];
    struct reader *reader;     /* moved: fed to its end by the HTTP thread, finished off the loop */
    struct upload_share share; /* moved with it */
    struct graph_stream *stream; /* likewise: has the edges that it read, or NULL */
    double parse_s;              /* spent feeding it */
    struct input_report input;   /* what was understood of it so far */
    struct job_parameters parameters;
    char idempotency_key[IDEMPOTENCY_KEY_SIZE];
    char traceparent[TRACEPARENT_SIZE]; /* empty = none */
    char request_id[REQUEST_ID_SIZE];   /* for the log */
    double wait_s;
    bool wait_until_final; /* with wait_s: until the job has ended, not until its state changes */
    bool filter_state;
    enum job_state state;
    int client_socket; /* watched while the ask waits; 0 = none */
    struct event_place place;
    uint32_t limit;
    uint32_t vertex_count; /* of a graph that is not stored */
    uint64_t edge_count;
    char cursor[JOB_ID_SIZE];

    /* Out. */
    enum status status; /* STATUS_OK: http_status and body; else problem */
    struct problem problem;
    unsigned http_status;
    char *body; /* JSON, owned by the ask; may be NULL */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    uint32_t retry_after_s; /* 0 = say nothing */
    struct timings timings; /* of the job that is answered, as far as they are known */
    bool client_left;       /* which ended the wait */

    void (*answered)(struct ask *ask);
    void *context;

    /* Of the desk while it has the ask. */
    struct desk *desk;
    struct job *job; /* waited for */
    struct ask *next_waiter;
    struct ask *previous_waiter;
    struct ask *next_watcher; /* streams of events: of all jobs */
    struct ask *previous_watcher;
    double expires_at_s; /* monotonic */
};

/* Frees what an ask owns: a reader not taken, the body. */
void ask_finish(struct ask *ask);

/* Restores graphs, results and jobs from the store, starts the store's disk threads, opens a worker
 * per device (waits for them) and queues again what was queued or running. Borrows config, store
 * and table for its life. Loop thread. */
MUST_CHECK enum status desk_create(uv_loop_t *loop, const struct config *config,
                                   struct store *store, struct result_table *table,
                                   struct desk **ret_desk, struct problem *reterr);
/* Finds or makes it; it lives as long as the desk. Loop thread, or before the loop runs. */
MUST_CHECK enum status desk_tenant(struct desk *desk, const char *name, struct tenant **ret_tenant);
/* Any thread. */
void desk_post(struct desk *desk, struct ask *ask);

const struct admission *desk_admission(const struct desk *desk);
const struct device_list *desk_devices(const struct desk *desk);

/* Whether a worker is ready, that is not lost or being started again. Any thread. */
bool desk_has_worker(const struct desk *desk);

/* No new jobs from now on; waiting long-polls are answered. drained() is called on the loop when
 * the running jobs have ended and all is on the disk; running jobs are cancelled and put back
 * after drain_s. Every ask from then on is answered as soon as the loop sees it. */
void desk_drain(struct desk *desk, void (*drained)(void *context), void *context);
/* While draining: cancels and puts back the running jobs now. */
void desk_drain_faster(struct desk *desk);
/* The file of this graph proved damaged: it goes to quarantine. Any thread. */
void desk_note_damaged_graph(struct desk *desk, const char *graph_id);
/* Asks posted and not yet answered. Any thread. */
unsigned desk_asks_open(const struct desk *desk);
/* After drained: stops the workers, answers every ask left. The caller runs the loop on until its
 * handles are closed; the desk is freed then. NULL is accepted. */
void desk_destroy(struct desk *desk);
/* A worker lost its device, or the store what it was to keep (STATUS_IO): the process should leave
 * and be started again. lost() is called on the loop, once, when that happens. */
void desk_on_lost(struct desk *desk, void (*lost)(void *context, enum status why), void *context);
