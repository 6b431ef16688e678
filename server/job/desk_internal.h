/* The desk from inside: what its files share. Everything here runs on the loop thread.
 *
 *   desk.c          the counter itself: mailbox in, dispatch by kind of ask, life and death
 *   desk_answer.c   how an ask is answered: documents and problems
 *   desk_change.c   durable changes on their way to the store and back
 *   desk_open.c     devices, workers and limits at start-up
 *   desk_restore.c  what the catalogue remembers
 *   desk_submit.c   uploads and submissions until their graph is known
 *   desk_accept.c   and on to their durable acceptance
 *   desk_room.c     room on the disk: promised, and gone
 *   desk_damage.c   what proved damaged
 *   desk_dispatch.c queue to worker
 *   desk_finish.c   how a job ends
 *   desk_loss.c     jobs whose worker failed for good
 *   desk_result.c   results published, evicted, asked for
 *   desk_graph.c    graphs shown and deleted
 *   desk_estimate.c what a solve would take
 *   desk_list.c     lists of jobs and graphs
 *   desk_wait.c     long-polls and deadlines
 *   desk_watch.c    streams of events
 *   desk_leave.c    clients that leave while they wait
 *   desk_drain.c    the way out */
#pragma once

#include "server/job/desk.h"
#include "server/job/graph_table.h"
#include "server/job/job_queue.h"
#include "server/job/job_table.h"
#include "server/job/submission.h"
#include "server/job/worker.h"
#include "server/metrics.h"

/* Small jobs that a worker gets at once: as many graphs of a kind as make a device busy, and no
 * more, as all of them wait for the last; and the bytes of their matrices. */
#define BATCH_JOB_LIMIT WORK_LOAD_LIMIT
#define BATCH_LIMIT_BYTES ((size_t)64 << 20)

/* Solves of a job that may end for want of memory or open files before it fails. */
#define ATTEMPT_LIMIT 4
/* The same for memory of a device, which others may hold a little longer. */
#define MEMORY_ATTEMPT_LIMIT 16

struct desk_worker {
    struct desk *desk;
    struct worker *worker;
    struct worker_opening opening;
    bool opened;                        /* it has told of its first opening */
    struct work_load load;              /* in hand; of no work = idle */
    struct work works[BATCH_JOB_LIMIT]; /* of load */
    struct job *jobs[BATCH_JOB_LIMIT];  /* whose works they are; NULL once one has ended */
};

struct desk {
    uv_loop_t *loop;
    const struct config *config;
    struct store *store;
    struct result_table *results;
    struct mailbox *mailbox;

    uv_async_t wake;
    uv_timer_t alarm;  /* at the earliest deadline or end of a wait */
    double alarm_at_s; /* monotonic; 0 = not set */
    uv_timer_t drain_alarm;
    uv_timer_t watch_tick; /* runs while a stream of events waits */
    uv_timer_t room_tick;  /* runs while the disk is full */
    uv_poll_t leaving;     /* of leave_epoll */
    int leave_epoll;       /* the sockets of clients whose asks wait; 0 = not open */
    uint32_t handles_open;

    struct admission admission;
    struct device_list devices;
    uint32_t vertex_limit[KIND_COUNT];
    struct desk_worker *workers[DEVICE_LIMIT];
    uint32_t worker_count;
    uint32_t turn; /* the worker that is asked first */

    struct ask *watchers; /* streams of events that wait */
    struct job_table *jobs;
    struct job_queue queue;
    struct tenant_table *tenants;
    struct tenant *nobody; /* the one without a name */
    struct graph_table *graphs;
    size_t history;            /* jobs that have ended, durably */
    uint64_t promised_bytes;   /* of the disk, to all jobs that have not ended */
    uint64_t promised_most;    /* to one of them */
    uint64_t result_bytes;     /* of all results published */
    bool full;                 /* the disk */
    bool paused;               /* nothing is begun until the next look */
    size_t kept_bytes;         /* graphs that queued jobs keep in memory */
    uint32_t result_limit;     /* what open files allow, beside the configured one */
    uint32_t result_count;     /* published: of all graphs and kinds */
    uint32_t reserved;         /* places in the queue promised to submissions under way */
    uint32_t submissions;      /* under way, parked ones included */
    uint32_t looks;            /* at stored graphs, for estimates, under way */
    struct submission *parked; /* wait for the deletion of their graph */
    uint32_t opening_count;    /* workers that have told of their opening */
    uint32_t changes;          /* on their way to the disk */
    uint64_t batch_number;     /* of the load collected last, 0 = none yet */
    double typical_solve_s;    /* smoothed, for the guess of Retry-After */
    atomic_uint asks_open;

    bool draining;
    bool drained_told;
    void (*drained)(void *context);
    void *drained_context;
    bool is_lost;
    void (*lost)(void *context, enum status why);
    void *lost_context;
};

/* ---- desk.c ---- */
/* Of whom the ask comes only; NULL when there is none. */
struct job *desk_find_job(const struct desk *desk, const struct ask *ask, const char *id);
/* Brings the admission's counters up to date. */
void desk_count(struct desk *desk);
/* The process cannot go on, for the device or the disk. */
void desk_tell_lost(struct desk *desk, enum status why);

/* ---- desk_answer.c ---- */
/* Hands the ask back; status and the rest are set. */
void desk_answer(struct ask *ask);
void desk_answer_status(struct ask *ask, enum status status, const char *detail);
void desk_answer_problem(struct ask *ask, const struct problem *problem);
/* Takes body, which may be NULL: out of memory. */
void desk_answer_body(struct ask *ask, unsigned http_status, char *body);
void desk_answer_no_such(struct ask *ask);
void desk_answer_job(struct desk *desk, struct ask *ask, const struct job *job);
void desk_answer_graph(struct ask *ask, const struct graph_entry *entry, unsigned http_status);
/* JSON text of a job as of now, freed by the caller; NULL when out of memory. */
char *desk_answer_print_job(struct desk *desk, const struct job *job);
/* input may be NULL. */
char *desk_answer_print_graph(const struct graph_entry *entry, const struct input_report *input);

/* ---- desk_change.c ---- */
/* One store_change with room for all that it points to. */
struct desk_change {
    struct message message;
    struct store_change change;
    struct desk *desk;
    struct graph_row graph_row;
    struct name_row name_row;
    struct result_row result_row;
    struct job_row job_row;
    char *report;        /* owned */
    struct graph *graph; /* owned */
    struct upload_share share;
    struct result *result; /* counted */
    char deleted_id[JOB_ID_SIZE];
    struct job *job;           /* borrowed: its count of changes keeps it */
    struct graph_entry *entry; /* borrowed: its count of changes keeps it */
    struct ask *ask;
    void (*then)(struct desk_change *change); /* change.status is set */
};

/* then may be NULL: a failure is logged either way. */
MUST_CHECK enum status desk_change_create(struct desk *desk,
                                          void (*then)(struct desk_change *change),
                                          struct desk_change **ret_change);
void desk_change_destroy(struct desk_change *change);
/* Adds the job's row as of now. */
MUST_CHECK enum status desk_change_add_job(struct desk_change *change, struct job *job);
/* A name for the graph of the change's entry. */
void desk_change_add_name(struct desk_change *change, const char *name);
/* Moves the change to the disk threads; it comes back to then() and is freed after. */
void desk_change_send(struct desk_change *change);

/* ---- desk_open.c ---- */
MUST_CHECK enum status desk_open_workers(struct desk *desk, struct problem *reterr);

/* ---- desk_restore.c ---- */
MUST_CHECK enum status desk_restore(struct desk *desk, struct problem *reterr);
/* After the workers are open: what was queued or running is queued. */
void desk_restore_queue(struct desk *desk);

/* ---- desk_submit.c ---- */
void desk_submit(struct desk *desk, struct ask *ask);
void desk_submit_graph(struct desk *desk, struct ask *ask);
/* A job on a stored graph, for a question that waits for its result. */
void desk_submit_again(struct desk *desk, struct ask *ask, struct graph_entry *entry,
                       enum kind kind);

/* ---- desk_accept.c ---- */
/* Takes the submission, whose graph has an id and whose kind is resolved. */
void desk_accept(struct submission *submission);
/* Those that waited for the deletion of this graph go on. */
void desk_accept_unpark(struct desk *desk, const char *graph_id);

/* ---- desk_room.c ---- */
/* Room for the job's result, until it is released. */
void desk_room_promise(struct desk *desk, struct job *job, uint32_t vertex_count);
/* The job has ended. Does nothing the second time. */
void desk_room_release(struct desk *desk, struct job *job);
/* Whether there is room for this result and graph beside all that was promised: STATUS_DISK_FULL
 * with limit and actual. */
MUST_CHECK enum status desk_room_check(struct desk *desk, uint32_t vertex_count, enum kind kind,
                                       uint64_t graph_bytes, struct problem *reterr);
/* Brings the admission up to date. */
void desk_room_count(struct desk *desk);
/* Something lacked what it may find a little later: nothing is begun until the next look. */
void desk_room_pause(struct desk *desk);
/* Something found no room: nothing new is taken, and nothing begun, until there is some again. */
void desk_room_note_full(struct desk *desk);
void desk_room_ticked(uv_timer_t *tick);

/* ---- desk_damage.c ---- */
/* From here on the result, not yet shared, goes to quarantine when it proves damaged, and its graph
 * is solved again. */
void desk_damage_watch(struct desk *desk, struct result *result);

/* ---- desk_dispatch.c ---- */
/* Counts the bytes of the result to come among those of its tenant, once and until it ends. */
void desk_dispatch_pledge(struct job *job, uint32_t vertex_count);
/* It has ended, or will not be: does nothing the second time. */
void desk_dispatch_unpledge(struct job *job);
/* Queues an accepted job, which its graph counts among the active ones. */
void desk_dispatch_queue(struct desk *desk, struct job *job);
/* Gives idle workers what they can have. */
void desk_dispatch(struct desk *desk);
/* Workers are asked in turn from the one behind this one on. */
void desk_dispatch_turn_from(struct desk *desk, const struct desk_worker *seat);
/* deliver of the load that comes home. */
void desk_dispatch_finished(struct message *message);
/* Seconds until a job ends, with those before it in the queue; below 0 = not known. */
double desk_dispatch_eta_s(struct desk *desk, const struct job *job);
/* Lets go of the graph that a job keeps, or moves it out. */
struct graph *desk_dispatch_take_graph(struct desk *desk, struct job *job);

/* ---- desk_finish.c ---- */
/* The job, no longer queued or with a worker, ends; ask, which may be NULL, is answered once that
 * is durable. */
void desk_finish_cancelled(struct desk *desk, struct job *job, struct ask *ask);
/* job->report.problem tells why. */
void desk_finish_failed(struct desk *desk, struct job *job);
/* Whether its graph has the result already, verified when the job asks for that. */
bool desk_finish_is_known(const struct desk *desk, const struct graph_entry *entry,
                          const struct job *job);
/* Marks such a job done, with the report of the job that solved it; nothing is committed. */
void desk_finish_as_known(const struct desk *desk, struct job *job);
/* The same for a queued job, committed. */
void desk_finish_known(struct desk *desk, struct job *job);
/* By the outcome of its work, one of the load. */
void desk_finish_work(struct desk *desk, struct job *job, struct work *work,
                      const struct work_load *load);
/* The job goes back into the queue. */
void desk_finish_put_back(struct desk *desk, struct job *job);
/* It was stopped while it ran: put back, failed or cancelled, by stop_reason. */
void desk_finish_stopped(struct desk *desk, struct job *job);

void desk_finish_cancel(struct desk *desk, struct ask *ask);
/* Ends that found no room on the disk are stored now. */
void desk_finish_store_ends(struct desk *desk);
void desk_finish_deadline(struct desk *desk, struct job *job);
/* The end of the job is durable: it is history now, and the oldest beyond the limit is forgotten.
 */
void desk_finish_committed(struct desk *desk, struct job *job);

/* ---- desk_loss.c ---- */
/* The worker failed for good while it had the job: it goes back into the queue once that is
 * durably counted, or fails as one job too many. */
void desk_loss_job(struct desk *desk, struct job *job, const struct work_load *load);

/* ---- desk_result.c ---- */
/* Makes the result answer: for its graph, the aliases and every job that is done with it. */
MUST_CHECK enum status desk_result_publish(struct desk *desk, struct graph_entry *entry,
                                           struct result *result);
/* An alias finds what its graph has. */
void desk_result_bind_name(struct desk *desk, const char *name, const struct graph_entry *entry);
/* The newest job of its graph: when it is done its id finds its result, and of the results of
 * several kinds it is this one that the graph and its aliases answer with from now on. */
void desk_result_bind_latest(struct desk *desk, const struct job *job, struct graph_entry *entry);
/* Nobody finds it any more; its file and row are the caller's matter. */
void desk_result_retire(struct desk *desk, struct graph_entry *entry, enum kind kind);
/* Evicts the results longest unasked until the budget holds, never `kept`. */
void desk_result_evict(struct desk *desk, const struct result *kept);
void desk_result_ask(struct desk *desk, struct ask *ask);
/* The end of a wait: the result, or why there is none. */
void desk_result_answer(struct desk *desk, struct ask *ask);

/* ---- desk_graph.c ---- */
/* By graph id, alias or job id, of who asks only. */
struct graph_entry *desk_graph_find(const struct desk *desk, const struct ask *ask);
void desk_graph_show(struct desk *desk, struct ask *ask);
void desk_graph_delete(struct desk *desk, struct ask *ask);

/* ---- desk_estimate.c ---- */
void desk_estimate(struct desk *desk, struct ask *ask);

/* ---- desk_list.c ---- */
void desk_list_jobs(struct desk *desk, struct ask *ask);
void desk_list_graphs(struct desk *desk, struct ask *ask);

/* ---- desk_wait.c ---- */
/* Holds the ask until the job changes, or answers it at once when it must not wait. */
void desk_wait(struct desk *desk, struct ask *ask, struct job *job);
/* Takes the ask off the list of its job, and answers it as things are. */
void desk_wait_release(struct desk *desk, struct ask *ask);
/* Puts it there. */
void desk_wait_hold(struct desk *desk, struct ask *ask, struct job *job, double expires_at_s);
/* The state has changed: who waited for that is answered. */
void desk_wait_notify(struct desk *desk, struct job *job);
/* Nobody waits any longer. */
void desk_wait_end(struct desk *desk);
/* Sees to it that the alarm rings no later than this. */
void desk_wait_until(struct desk *desk, double at_s);
void desk_wait_rung(uv_timer_t *alarm);

/* ---- desk_watch.c ---- */
/* The next piece of a stream of events, at once or when there is one. */
void desk_watch(struct desk *desk, struct ask *ask);
/* The piece as of now; the ask is on no list. */
void desk_watch_answer(struct desk *desk, struct ask *ask, struct job *job);
/* It waits no longer. */
void desk_watch_forget(struct desk *desk, struct ask *ask);
/* Every stream ends, with the state. */
void desk_watch_end(struct desk *desk);
void desk_watch_ticked(uv_timer_t *tick);

/* ---- desk_leave.c ---- */
MUST_CHECK enum status desk_leave_open(struct desk *desk);
/* After the handle is closed. */
void desk_leave_close(struct desk *desk);
/* From here on the ask's client is watched; without a way to, only its wait ends. */
void desk_leave_watch(struct desk *desk, const struct ask *ask);
void desk_leave_forget(struct desk *desk, const struct ask *ask);

/* ---- desk_drain.c ---- */
/* Tells of the end of the drain when nothing is under way any more. */
void desk_drain_check(struct desk *desk);
