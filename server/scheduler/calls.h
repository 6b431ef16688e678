/* Calls: what an HTTP thread asks of the scheduler, and its answer.
 *
 * An HTTP thread posts a struct call. The call belongs to the scheduler until answered() is called
 * on the loop thread, and to the HTTP thread again after that. Everything durable goes to the store
 * first: an answer of 201 or 202 is given after the catalogue commit. */
#pragma once

#include "proto/edge_changes.h"
#include "proto/job_document.h"
#include "proto/read/reader.h"
#include "server/scheduler/tenants.h"
#include "server/scheduler/upload_memory.h"
#include "server/store/catalogue.h"
#include "server/store/result.h"
#include "server/worker/mailbox.h"

#include <sys/queue.h>

struct scheduler;

enum call_kind {
    CALL_SUBMIT, /* reader, or key of a stored graph -> 202 or 200, job document */
    CALL_CHANGE, /* key, changes -> 202 or 200, document of the job of a new graph, to which the
                    key, if it is a name, moves when the job is done */
    CALL_STORE_GRAPH,     /* reader; of the parameters the name -> 201 or 200, graph document */
    CALL_JOB,             /* key = job id; wait_s: until the state changes -> 200 */
    CALL_EVENTS,          /* key = job id -> 200, the next piece of a stream of events; 204: none */
    CALL_JOBS,            /* -> {"jobs":[..],"next":cursor|null} */
    CALL_CANCEL,          /* key = job id -> 202, 409 JobFinished */
    CALL_GRAPHS,          /* -> {"graphs":[..],"next":cursor|null} */
    CALL_GRAPH,           /* key = graph id, alias or job id -> 200; graph_id */
    CALL_ESTIMATE,        /* key, else the two counts -> 200 */
    CALL_DELETE_GRAPH,    /* key -> 204 (status OK, no body), 409 GraphInUse while a job uses it */
    CALL_PUT_COORDINATES, /* key -> 201 or 200, document of the coordinates */
    CALL_DELETE_COORDINATES, /* key -> 204, 409 NoCoordinates */
    CALL_RESULT /* key that the result table does not have; wait_s -> OK once it has, else
                   NoSuchGraph, NoSuchJob or NotSolved with job_id of the job to watch */
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

/* CALL_SUBMIT, CALL_CHANGE and CALL_STORE_GRAPH; and CALL_RESULT, zeroed, when its graph must be
 * solved again. */
struct submit_call {
    union {
        struct reader *reader; /* but for CALL_CHANGE: fed to its end by the HTTP thread, finished
                                  off the loop; NULL = a stored graph */
        struct edge_changes changes; /* CALL_CHANGE */
    };
    struct upload_share share; /* charged for the reader, or for the changes */
    double parse_s;            /* spent feeding the reader */
    struct input_report input; /* how the upload was understood so far */
    char *warnings;            /* about the upload and its name, by warning_print; NULL = none */
    struct job_parameters parameters;
    char idempotency_key[IDEMPOTENCY_KEY_SIZE];
};

/* "<state>-<milliseconds since 1970>": when the job came into that state. */
#define EVENT_ID_SIZE 40

/* CALL_EVENTS: the place in a stream of events, kept from piece to piece and brought up to date by
 * the scheduler. */
struct event_place {
    char seen[EVENT_ID_SIZE]; /* id of the last state sent, or what the client says it was; empty */
    bool begun;               /* the first piece, which is never waited for, has been made */
    bool ended;               /* this piece is the last */
    uint32_t position;        /* last told */
    double progress;
};

/* CALL_JOBS and CALL_GRAPHS. */
struct list_call {
    bool filter_state;
    enum job_state state; /* with filter_state: of the jobs that are listed */
    uint32_t limit;
    char cursor[JOB_ID_SIZE];
};

/* CALL_ESTIMATE: of the graph of the key, or without one of these counts. */
struct estimate_call {
    enum kind kind;
    uint32_t vertex_count;
    uint64_t edge_count;
};

/* CALL_PUT_COORDINATES. */
struct coordinates_upload {
    struct text document;
    struct upload_share share;
};

/* A few tags. */
#define IF_MATCH_SIZE 256
#define REQUEST_ID_SIZE 65

struct call {
    struct message message; /* of the mailbox on the way in */
    enum call_kind kind;

    /* In. */
    struct tenant *tenant; /* who asks; NULL = nobody */
    struct quota quota;    /* of the key that was shown */
    char key[RESULT_KEY_SIZE];
    char if_match[IF_MATCH_SIZE];       /* the tags of what may be changed; empty = any */
    char if_none_match[IF_MATCH_SIZE];  /* for name=: the tags of what may not be; empty = none */
    char traceparent[TRACEPARENT_SIZE]; /* empty = none */
    char request_id[REQUEST_ID_SIZE];   /* for the log */
    double wait_s;                      /* longest wait for the job: to its end, but for CALL_JOB */
    union {
        struct submit_call submit;
        struct event_place place;
        struct list_call list;
        struct estimate_call estimate;
        struct coordinates_upload coordinates;
    };

    /* Out. */
    enum status status; /* STATUS_OK: http_status and body; else problem */
    struct problem problem;
    unsigned http_status;
    char *body; /* JSON, owned by the call; may be NULL */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    uint32_t retry_after_s; /* 0 = say nothing */

    void (*answered)(struct call *call);
    void *context;

    /* A client that leaves while its call is with the scheduler: scheduler_post_left. */
    struct message left;
    bool client_left; /* the wait has ended because the client left */
    void (*left_noted)(struct call *call);
    /* Written only by the thread that made the call. */
    bool left_told;
    unsigned messages_out; /* that the scheduler has not given back */

    /* Belongs to the scheduler while it has the call. */
    struct scheduler *scheduler;
    struct job *job;             /* waited for; NULL = the call does not wait */
    LIST_ENTRY(call) of_job;     /* the waiters of the job, or its acceptors */
    LIST_ENTRY(call) in_waiting; /* the waiters of all jobs */
    double expires_at_s;         /* monotonic */
};

/* CALL_SUBMIT, CALL_CHANGE or CALL_STORE_GRAPH. */
bool call_brings_job(const struct call *call);
/* Frees what a call owns: a reader or document that nobody has moved away, the body. */
void call_finish(struct call *call);
