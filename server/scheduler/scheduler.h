/* The scheduler: owner of all state that changes, on the loop thread alone: the job table, the
 * graph table, the queue, the waiting long-polls and the workers.
 *
 * An HTTP thread posts a struct call; it belongs to the scheduler until answered() is called (on
 * the loop thread), and to the HTTP thread again after. Everything durable goes to the store first:
 * an answer of 201 or 202 is given after the catalogue commit. */
#pragma once

#include "proto/edge_changes.h"
#include "proto/job_document.h"
#include "proto/read/coordinates_reader.h"
#include "proto/read/reader.h"
#include "server/config.h"
#include "server/scheduler/capacity.h"
#include "server/store/catalogue.h"
#include "server/store/result.h"
#include "server/store/store.h"
#include "server/worker/mailbox.h"
#include "server/worker/worker.h"

#include <uv.h>

struct scheduler;

/* State that HTTP threads read without asking the loop: whether new work is taken, and how large it
 * may be. Atomics, written by the loop. */
struct admission {
    atomic_bool ready;    /* a worker has opened its solver */
    atomic_bool draining; /* no new jobs; readiness is 503 */
    atomic_bool full;     /* the disk: nothing new is taken, questions are answered */
    atomic_ullong
        promised_bytes;        /* of the disk's free ones: for jobs, and kept for the catalogue */
    atomic_uint queue_free;    /* jobs that the queue still takes */
    atomic_uint tenant_count;  /* tenants with a key that may submit */
    atomic_uint retry_after_s; /* when it is full: a guess at when it is not */
    uint32_t vertex_limit;     /* fixed at start: no device holds more */
    uint64_t edge_limit;
    char limit_reason[160]; /* source of vertex_limit, for the hint of the 413 */
    uint32_t hierarchy_vertex_limit;
    char hierarchy_limit_reason[64];
};

/* The devices found at start-up, for /v1/devices, admission and the log. Immutable after start,
 * but for the workers' health. */
#define DEVICE_LIMIT (SOLVE_DEVICES_MAX + 1)

struct device_list {
    struct solver_device devices[DEVICE_LIMIT];       /* one worker each */
    const struct worker_health *health[DEVICE_LIMIT]; /* of their workers, which outlive it */
    uint32_t count;
    char gpu_reason[SOLVER_REASON_SIZE]; /* why no GPU is used; empty when one is */
};

enum call_kind {
    CALL_SUBMIT, /* reader, or key of a stored graph; parameters -> 202 or 200, job document */
    CALL_CHANGE, /* key, changes; parameters -> 202 or 200, document of the job of a new graph, to
                    which the key, if it is a name, moves when it is done */
    CALL_STORE_GRAPH, /* reader; parameters.name -> 201 or 200, graph document */
    CALL_JOB,         /* key = job id; wait_s: until the state changes -> 200 */
    CALL_EVENTS,   /* key = job id; seen -> 200, the next piece of a stream of events; 204, none to
                     come */
    CALL_JOBS,     /* list filter -> {"jobs":[..],"next":cursor|null} */
    CALL_CANCEL,   /* key = job id -> 202, 409 JobFinished */
    CALL_GRAPHS,   /* list filter -> {"graphs":[..],"next":cursor|null} */
    CALL_GRAPH,    /* key = graph id, alias or job id -> 200; ret graph_id */
    CALL_ESTIMATE, /* key, else vertex_count and edge_count; parameters.kind -> 200 */
    CALL_DELETE_GRAPH, /* key -> 204 (status OK, no body), 409 GraphInUse while a job uses it */
    /* key, coordinates -> 201 or 200, document of them */
    CALL_PUT_COORDINATES,
    /* key, if_match -> 204, 409 NoCoordinates */
    CALL_DELETE_COORDINATES,
    CALL_RESULT /* key that the result table does not have; wait_s -> OK once it has,
                         else NoSuchGraph, NoSuchJob or NotSolved with job_id of the job to watch */
};

/* A body with coordinates. */
struct coordinates_upload {
    struct text document; /* moved; charged to the share of the call */
    enum coordinates_form form;
    enum coordinates_system system;
};

/* Parameters of a request for a job, beside the graph. */
struct job_parameters {
    enum kind kind;
    int priority;      /* 0..9, 9 first */
    double deadline_s; /* seconds from now, 0 = none */
    bool verify;
    enum result_form form; /* of the result */
    char name[NAME_SIZE];  /* alias for the graph, empty = none */
};

/* "<state>-<milliseconds since 1970>": when the job came into that state. */
#define EVENT_ID_SIZE 40

/* How far a stream of events has come: in its call from piece to piece, brought up to date by the
 * scheduler. */
struct event_place {
    char seen[EVENT_ID_SIZE]; /* id of the last state sent, or what the client says it was; empty */
    bool begun;               /* the first piece, which is never waited for, has been made */
    bool ended;               /* this piece is the last */
    uint32_t position;        /* last told */
    double progress;
};

#define REQUEST_ID_SIZE 65
/* A few tags. */
#define IF_MATCH_SIZE 256

struct call {
    struct message message; /* of the mailbox on the way in */
    enum call_kind kind;

    /* In. */
    struct tenant *tenant; /* who asks; NULL = nobody */
    struct quota quota;    /* of the key that was shown */
    char key[RESULT_KEY_SIZE];
    struct reader *reader;     /* moved: fed to its end by the HTTP thread, finished off the loop */
    struct upload_share share; /* moved with it, or with the changes */
    struct edge_changes changes;
    char if_match[IF_MATCH_SIZE]; /* the tags of what may be changed; empty = any */
    double parse_s;               /* spent feeding it */
    struct input_report input;    /* what was understood of it so far */
    char *warnings;               /* about it and its name, by warning_print, owned; NULL = none */
    struct job_parameters parameters;
    char idempotency_key[IDEMPOTENCY_KEY_SIZE];
    char traceparent[TRACEPARENT_SIZE]; /* empty = none */
    char request_id[REQUEST_ID_SIZE];   /* for the log */
    double wait_s;
    bool wait_until_final; /* with wait_s: until the job has ended, not until its state changes */
    bool filter_state;
    enum job_state state;
    struct event_place place;
    uint32_t limit;
    uint32_t vertex_count; /* of a graph that is not stored */
    uint64_t edge_count;
    char cursor[JOB_ID_SIZE];
    struct coordinates_upload coordinates;

    /* Out. */
    enum status status; /* STATUS_OK: http_status and body; else problem */
    struct problem problem;
    unsigned http_status;
    char *body; /* JSON, owned by the call; may be NULL */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    uint32_t retry_after_s; /* 0 = say nothing */
    struct timings timings; /* of the job that is answered, as far as they are known */

    void (*answered)(struct call *call);
    void *context;

    /* A client that leaves while its call is with the scheduler: scheduler_post_left. */
    struct message left;
    bool client_left; /* it ended the wait */
    void (*left_noted)(struct call *call);
    /* Written only by the thread that made the call. */
    bool left_told;
    unsigned messages_out; /* that the scheduler has not given back */

    /* Belongs to the scheduler while it has the call. */
    struct scheduler *scheduler;
    struct job *job;          /* waited for */
    bool is_waiting;          /* among the waiters of the job */
    struct call *next_waiter; /* of the same job */
    struct call *previous_waiter;
    struct call *next_waiting; /* of all jobs */
    struct call *previous_waiting;
    double expires_at_s; /* monotonic */
};

/* Frees what a call owns: a reader not taken, the body. */
void call_finish(struct call *call);

/* Restores graphs, results and jobs from the store, starts the store's disk threads, opens a worker
 * per device (waits for them) and queues again what was queued or running. Borrows config, store,
 * table and launcher, which may be NULL, for its life. Loop thread. */
MUST_CHECK enum status scheduler_create(uv_loop_t *loop, const struct config *config,
                                        struct store *store, struct result_table *table,
                                        const struct worker_launcher *launcher,
                                        struct scheduler **ret_scheduler, struct problem *reterr);
/* Finds or makes it; it lives as long as the scheduler. Loop thread, or before the loop runs. */
MUST_CHECK enum status scheduler_tenant(struct scheduler *scheduler, const char *name,
                                        struct tenant **ret_tenant);
/* So many tenants may submit jobs. */
void scheduler_share_queue(struct scheduler *scheduler, unsigned tenant_count);
/* Any thread. */
void scheduler_post(struct scheduler *scheduler, struct call *call);
/* The client of a call has left: it waits no longer. The call may be answered already, but must
 * live until left_noted is called as well, on the loop thread, where answered is called. */
void scheduler_post_left(struct scheduler *scheduler, struct call *call);

const struct admission *scheduler_admission(const struct scheduler *scheduler);
const struct device_list *scheduler_devices(const struct scheduler *scheduler);

/* Whether a worker is ready, that is not lost or being started again. Any thread. */
bool scheduler_has_worker(const struct scheduler *scheduler);

/* No new jobs from now on; waiting long-polls are answered. drained() is called on the loop when
 * the running jobs have ended and all is on the disk; running jobs are cancelled and put back
 * after drain_s. Every call from then on is answered as soon as the loop sees it. */
void scheduler_drain(struct scheduler *scheduler, void (*drained)(void *context), void *context);
/* While draining: cancels and puts back the running jobs now. */
void scheduler_drain_faster(struct scheduler *scheduler);
/* The file of this graph proved damaged: it goes to quarantine. Any thread. */
void scheduler_note_damaged_graph(struct scheduler *scheduler, const char *graph_id);
/* The same of its coordinates. */
void scheduler_note_damaged_coordinates(struct scheduler *scheduler, const char *graph_id);
/* Calls posted and not yet answered. Any thread. */
unsigned scheduler_calls_open(const struct scheduler *scheduler);
/* After drained: stops the workers, answers every call left. The caller runs the loop on until its
 * handles are closed; the scheduler is freed then. NULL is accepted. */
void scheduler_destroy(struct scheduler *scheduler);
/* A worker lost its device, or the store what it was to keep (STATUS_IO): the process should leave
 * and be started again. lost() is called on the loop, once, when that happens. */
void scheduler_on_lost(struct scheduler *scheduler, void (*lost)(void *context, enum status why),
                       void *context);
