/* Calls: requests from HTTP threads to the scheduler, and their answers.
 *
 * An HTTP thread owns a struct call and posts it. The scheduler owns the call until answered() is
 * called on the loop thread; then the HTTP thread owns it again. A call is answered with 201 or 202
 * only after its catalogue commit. */
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

/* Kinds of calls. Each comment says: input members -> HTTP status and body of the answer. */
enum call_kind {
    CALL_SUBMIT, /* reader, or key of a stored graph -> 202 or 200, job document */
    CALL_CHANGE, /* key, changes -> 202 or 200, job document of the changed graph; if key is a name,
                    the name moves to that graph when the job is done */
    CALL_STORE_GRAPH,  /* reader, parameters.name -> 201 or 200, graph document */
    CALL_JOB,          /* key = job ID; waits wait_s for a new state -> 200, job document */
    CALL_EVENTS,       /* key = job ID -> 200, next part of an event stream; 204: no more events */
    CALL_JOBS,         /* -> {"jobs":[..],"next":cursor|null} */
    CALL_CANCEL,       /* key = job ID -> 202, 409 JobFinished */
    CALL_GRAPHS,       /* -> {"graphs":[..],"next":cursor|null} */
    CALL_GRAPH,        /* key = graph ID, alias or job ID -> 200, graph document; graph_id */
    CALL_ESTIMATE,     /* key, or vertex and edge counts -> 200, estimate */
    CALL_DELETE_GRAPH, /* key -> 204 (status OK, no body); 409 GraphInUse: a job uses it */
    CALL_PUT_COORDINATES,    /* key -> 201 or 200, document of the coordinates */
    CALL_DELETE_COORDINATES, /* key -> 204, 409 NoCoordinates */
    /* key = graph ID; damaged = a damaged result of the graph, which is then solved again; NULL =
     * the graph's file is damaged. Posted by any thread. */
    CALL_DAMAGE,
    CALL_RESULT /* key not in the result table, wait_s -> OK once the result is published, else
                   NoSuchGraph, NoSuchJob or NotSolved with the job_id to watch */
};

/* Parameters of a request for a job, other than its graph. */
struct job_parameters {
    enum kind kind;
    int priority;      /* 0 to 9; 9 is served first */
    double deadline_s; /* seconds from the request; 0 = no deadline */
    bool verify;
    enum result_form form; /* form of the result */
    char name[NAME_SIZE];  /* alias for the graph, empty = none */
};

/* Arguments of CALL_SUBMIT, CALL_CHANGE and CALL_STORE_GRAPH. All zero if CALL_RESULT submits a job
 * because the graph must be solved again. */
struct submit_call {
    union {
        /* The reader of an upload, which the HTTP thread has fed completely; NULL = a stored graph.
         * Not for CALL_CHANGE. */
        struct reader *reader;
        struct edge_changes changes; /* for CALL_CHANGE */
    };
    struct upload_share share; /* memory charged for the reader or the changes */
    double parse_s;            /* time spent feeding the reader */
    struct input_report input; /* how the upload has been interpreted */
    char *warnings; /* warnings about the upload, printed by warning_print; NULL = none */
    struct job_parameters parameters;
    char idempotency_key[IDEMPOTENCY_KEY_SIZE];
};

/* An event ID, "<state>-<milliseconds since 1970>": the time when the job entered the state. */
#define EVENT_ID_SIZE 40

/* State of CALL_EVENTS: the position in the stream, which the scheduler updates with each part. */
struct event_place {
    char seen[EVENT_ID_SIZE]; /* last ID sent, or Last-Event-ID; empty = none */
    bool begun;               /* the first part, which is sent without waiting, has been sent */
    bool ended;               /* this part is the last */
    uint32_t position;        /* queue position last sent */
    double progress;
};

/* Arguments of CALL_JOBS and CALL_GRAPHS. */
struct list_call {
    bool filter_state;
    enum job_state state; /* state of the listed jobs, if filter_state */
    uint32_t limit;
    char cursor[JOB_ID_SIZE];
};

/* Arguments of CALL_ESTIMATE. The size is used if the call's key, which names a graph, is empty. */
struct estimate_call {
    enum kind kind;
    uint32_t vertex_count;
    uint64_t edge_count;
};

/* Arguments of CALL_PUT_COORDINATES. */
struct coordinates_upload {
    struct text document;
    struct upload_share share;
};

/* Limit on the bytes of an If-Match header: enough for several tags. */
#define IF_MATCH_SIZE 256
#define REQUEST_ID_SIZE 65

struct call {
    struct message message; /* link of the scheduler's mailbox */
    enum call_kind kind;

    /* Input of the call. */
    struct tenant *tenant; /* tenant of the request; NULL = none */
    struct quota quota;    /* limits of the key in the request */
    char key[RESULT_KEY_SIZE];
    char if_match[IF_MATCH_SIZE]; /* the graph to change must have one of these tags; empty = any */
    char if_none_match[IF_MATCH_SIZE];  /* tags that the graph of name= must not have */
    char traceparent[TRACEPARENT_SIZE]; /* empty = none */
    char request_id[REQUEST_ID_SIZE];   /* ID of the request, logged with the job */
    double wait_s; /* longest wait for the job's end, or for a new state if the call is CALL_JOB */
    union {
        struct submit_call submit;
        struct event_place place;
        struct list_call list;
        struct estimate_call estimate;
        struct coordinates_upload coordinates;
        struct result *damaged; /* counted reference */
    };

    /* Output of the call. */
    enum status status; /* STATUS_OK: http_status and body are set; otherwise problem is set */
    struct problem problem;
    unsigned http_status;
    char *body; /* JSON, owned by the call; may be NULL */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    uint32_t retry_after_s; /* 0 = no Retry-After header */

    void (*answered)(struct call *call);
    void *context;

    atomic_bool client_left; /* the client has disconnected, so the call no longer waits */

    /* Used only by the scheduler. */
    struct scheduler *scheduler;
    struct job *job;             /* job that the call waits for; NULL = it does not wait */
    LIST_ENTRY(call) of_job;     /* link in job.waiters or job.acceptors */
    LIST_ENTRY(call) in_waiting; /* link in scheduler.waiting */
    double expires_at_s;         /* in monotonic time */
};

/* Returns whether the call is CALL_SUBMIT, CALL_CHANGE or CALL_STORE_GRAPH. */
bool call_brings_job(const struct call *call);
/* Frees the reader, document and body that the call still owns. */
void call_finish(struct call *call);
