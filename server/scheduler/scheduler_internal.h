/* The scheduler from inside: the state and the functions that its files share. Everything here runs
 * on the loop thread.
 *
 * A handler changes tables and sets marks; it never dispatches or wakes by itself. The loop settles
 * once at the end of each turn (scheduler.c). Calls go down only, in this order:
 *
 *   start_stop.c  workers opened, the drain, the end; restore.c: state from the catalogue
 *   scheduler.c   the mailbox, calls by kind, scheduler_settle; dispatch.c: queue to worker
 *   coordinates.c coordinates put and deleted
 *   requests.c    lists, graphs shown and deleted, results asked for, estimates
 *   finish.c      work that comes home, cancels and deadlines: how a job ends or is put back
 *   submit.c      uploads, changes and submissions, to their commit; accept.c: when it is durable
 *   versions.c    changes of a name one after another: the name moves, old graphs are deleted
 *   answer.c      how a call is answered, at once or later: documents, problems, long-polls, events
 *   results.c     durable changes on their way to the store and back; results published, found,
 *                 evicted, and solved again when they are damaged
 *   choose_form.c matrix or hierarchy; ledger.c: queue places, disk and memory
 *   jobs.c        jobs and their table; queue.c, tenants.c; graph_table.c: stored graphs */
#pragma once

#include "server/metrics.h"
#include "server/scheduler/jobs.h"
#include "server/scheduler/ledger.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/tenants.h"
#include "server/store/coordinates_file.h"
#include "server/store/result.h"
#include "server/worker/worker.h"

/* A worker and the job that it has. */
struct scheduler_worker {
    struct scheduler *scheduler;
    struct worker *worker;
    struct worker_opening opening;
    bool opened;      /* its first opening has come */
    struct job *job;  /* of the task in hand; NULL: the worker is idle */
    struct task task; /* with a job: lent to the worker */
};

/* Steps that wait for the end of the turn. */
struct scheduler_marks {
    struct job *changed; /* jobs whose waiters are to be woken */
    bool unparked;       /* a deletion, a naming or a change has ended: what waits for it goes on */
    bool ends_unstored;  /* ends that found no room on the disk are to be stored */
    bool alarm_rang;     /* waits or deadlines are over */
};

/* Names of one graph: each is bound anew with its results, and printed in its document. */
#define GRAPH_NAMES_MAX 1000

/* Stored graphs that are read at once, to be estimated, changed or located: the other two of
 * libuv's four threads finish uploads meanwhile. */
#define SCHEDULER_LOOK_LIMIT 2

/* From here on two devices solve a graph in little more than half of the time of one. */
#define SCHEDULER_GROUP_VERTICES_MIN 8192

/* The life of a stored graph:
 *
 *   ACCEPTING  its row is on the way to the catalogue; graph_table_add of submit.c
 *   STORED     its row and its file are on the disk; graph_entry_commit of accept.c and restore.c
 *   DAMAGED    its file is in quarantine, until an upload of the same graph is accepted;
 *              results_quarantine_graph
 *   DELETING   its deletion is on the way to the catalogue; names_delete_graph. The entry goes with
 *              its end, or returns to what it was when the store refuses
 *
 * Requests find a graph that is STORED or DAMAGED. */
enum graph_state { GRAPH_ACCEPTING = 0, GRAPH_STORED, GRAPH_DAMAGED, GRAPH_DELETING };

/* The state of one kind of result of a graph. */
enum graph_result_state {
    GRAPH_RESULT_NONE = 0,  /* never solved, or evicted */
    GRAPH_RESULT_PUBLISHED, /* answers, and is on its way to the disk */
    GRAPH_RESULT_DURABLE,   /* and on the disk */
    GRAPH_RESULT_LOST       /* damaged or missing: to be solved again */
};

/* A stored graph with its aliases and results. */
struct graph_entry {
    struct graph_row row;
    struct tenant *tenant; /* whose it is; its bytes are counted there */
    char **names;          /* aliases, NULL-terminated; NULL when it never had one */
    size_t name_count;
    struct result *results[KIND_COUNT]; /* published */
    enum graph_result_state result_states[KIND_COUNT];
    uint32_t item_index[KIND_COUNT]; /* of published results: in the heap of the scheduler */
    enum kind answering;             /* whose result is found by id and alias; 0 = none */
    char latest_job[JOB_ID_SIZE];    /* empty = none */
    uint32_t active_jobs;            /* being accepted, queued or running: not to be deleted */
    uint32_t changes;                /* on their way to the disk: not to be freed */
    enum graph_state state;
    enum graph_state undeleted_state; /* while DELETING: the state before */
    struct graph_entry *older;
    struct graph_entry *newer;
    LIST_ENTRY(graph_entry) of_tenant;
    /* The coordinates that it has, or is being given: zeroed, none. */
    struct coordinates_info coordinates;
};

/* Every stored graph, in order of creation. Owns the entries and a reference to each result.
 *
 * Balanced trees (tsearch of the C library): entries by id, and by owner and id; struct alias by
 * owner and name. Who calls is looked for in those by owner: his words are never compared with what
 * another has, so that the time of a look tells nothing of it. */
struct graph_table {
    void *by_id;
    void *by_owner;
    void *by_name;
    struct graph_entry *newest;
};

/* A published result among those that may be evicted. */
struct result_item {
    struct graph_entry *entry;
    enum kind kind;
    double touched_s; /* when it was looked at last; a query since is found at the next look */
};

struct scheduler {
    uv_loop_t *loop;
    const struct config *config;
    const struct worker_launcher *launcher; /* NULL = none */
    struct store *store;
    struct result_table *results;
    struct mailbox *mailbox;

    uv_async_t wake;
    uv_timer_t alarm;  /* at the earliest deadline or end of a wait */
    double alarm_at_s; /* monotonic; 0 = not set */
    uv_timer_t drain_alarm;
    uv_timer_t watch_tick; /* runs while a stream of events waits */
    uv_timer_t room_tick;  /* runs while nothing is begun for want of something */
    uint32_t handles_open;

    struct admission admission;
    struct device_list devices;
    uint32_t vertex_limit[KIND_COUNT];
    struct scheduler_worker *workers[DEVICE_LIMIT];
    uint32_t worker_count;
    uint32_t opening_count; /* workers whose first opening has come */
    uint32_t next_worker;   /* the one that is given a job first */
    /* The one whose devices are those of all others, together; NULL = none. It works while they do
     * not. */
    struct scheduler_worker *group;

    struct job_table *jobs;
    struct job_queue queue;
    struct tenant *tenants;
    struct tenant *nobody; /* the one without a name */
    struct graph_table *graphs;
    struct ledger ledger;
    struct result_item *items; /* a binary heap: the result longest unasked first */
    size_t item_room;          /* items allocated; ledger.result_count are used */
    uint32_t submissions;      /* under way, parked ones included */
    uint32_t looks;            /* at stored graphs, for what is put or estimated, under way */
    uint32_t changes;          /* on their way to the disk */
    /* They wait, in order, for the deletion of their graph, or while their name is given or
     * changed. */
    STAILQ_HEAD(, submission) parked;
    LIST_HEAD(, commit) namings; /* commits with a name, under way */
    LIST_HEAD(, call) waiting;   /* all calls that wait for a job */
    uint32_t event_count;        /* streams of events among them */
    double deadline_at_s;        /* no unfinished job has an earlier deadline; 0 = none has one */
    double typical_solve_s;      /* smoothed, for the guess of Retry-After */
    atomic_uint calls_open;
    struct scheduler_marks marks;

    bool draining;
    bool drained_told;
    void (*drained)(void *context);
    void *drained_context;
    enum status lost_status; /* why the process cannot go on; STATUS_OK = it can */
    bool lost_told;
    void (*lost)(void *context, enum status why);
    void *lost_context;
};

/* The loop settles soon: for handlers of timers and of libuv's pool, which are no messages. */
static inline void scheduler_wake(struct scheduler *scheduler)
{
    CHECK(uv_async_send(&scheduler->wake) == 0);
}

/* ---- scheduler.c ---- */
/* Delivers the messages that have come, nothing else. */
void scheduler_deliver_messages(struct scheduler *scheduler);
/* The callback of scheduler->wake: messages, then scheduler_settle. Sends coalesce, so one call may
 * stand for many messages. */
void scheduler_turn(uv_async_t *wake);
/* Acts on the marks: dispatches, wakes waiters, forgets old jobs, publishes counters, checks the
 * drain. After the drain has been told the scheduler may be gone. */
void scheduler_settle(struct scheduler *scheduler);

/* ---- answer.c ---- */
/* Both among what belongs to the tenant of the call; NULL when there is none. Graphs are found by
 * id, alias or job id. */
struct job *answer_find_job(const struct scheduler *scheduler, const struct call *call,
                            const char *id);
struct graph_entry *answer_find_graph(const struct scheduler *scheduler, const struct call *call);
/* Without a body. */
void answer_empty(struct call *call, unsigned http_status);
void answer_status(struct call *call, enum status status, const char *detail);
void answer_problem(struct call *call, const struct problem *problem);
/* Takes body, which may be NULL: out of memory. */
void answer_body(struct call *call, unsigned http_status, char *body);
void answer_no_such(struct call *call);
void answer_job(struct scheduler *scheduler, struct call *call, const struct job *job);
void answer_graph(struct call *call, const struct graph_entry *entry, unsigned http_status);
/* JSON text of a job as of now, freed by the caller; NULL when out of memory. */
char *answer_print_job(struct scheduler *scheduler, const struct job *job);
/* upload: the graph came with it; or NULL. */
char *answer_print_graph(const struct graph_entry *entry, const struct submit_call *upload);
/* Jobs before this one in the queue. */
uint32_t answer_position(struct scheduler *scheduler, const struct job *job);
/* Seconds until a job ends, with those before it in the queue; below 0 = not known. */
double answer_eta_s(struct scheduler *scheduler, const struct job *job);
/* The job to watch for the result that is asked for; NULL when there is none. */
struct job *answer_job_to_watch(const struct scheduler *scheduler, const struct call *call);
/* Answers a call for a result: that it is there, or why not. */
void answer_result(struct scheduler *scheduler, struct call *call);

/* Holds the call until the job changes, or answers it at once when it must not wait. */
void answer_wait(struct scheduler *scheduler, struct call *call, struct job *job);
/* The next piece of a stream of events, at once or when there is one. */
void answer_stream(struct scheduler *scheduler, struct call *call);
/* Ends the wait of a call with an answer of the state as of now. */
void answer_release(struct scheduler *scheduler, struct call *call);
/* The state of the job has changed: its waiters are woken at the end of the turn. */
void answer_mark_changed(struct scheduler *scheduler, struct job *job);
void answer_wake(struct scheduler *scheduler);
/* Answers the waits whose time is over. */
void answer_expire(struct scheduler *scheduler);
/* Ends every long-poll. */
void answer_end_polls(struct scheduler *scheduler);
/* Ends every stream of events, with the state. */
void answer_end_streams(struct scheduler *scheduler);
/* Sees to it that the alarm rings no later than this. */
void answer_set_alarm(struct scheduler *scheduler, double at_s);
/* The same for the deadline of a job, if it has one. */
void answer_watch_deadline(struct scheduler *scheduler, const struct job *job);

/* ---- results.c ---- */
/* One store_change, and what it points to. */
struct commit {
    struct message message;
    struct store_change change;
    uv_work_t writing; /* of the graph's file */
    struct scheduler *scheduler;
    char *report;        /* owned, of the row of the job */
    struct graph *graph; /* owned */
    struct upload_share share;
    struct result *result; /* counted */
    /* The coordinates that it puts, and those that were there before. */
    struct coordinates_info coordinates;
    struct coordinates_info old_coordinates;
    bool keeps_graph;          /* the graph is not deleted meanwhile */
    struct job *job;           /* borrowed: its count of changes keeps it */
    struct graph_entry *entry; /* borrowed: its count of changes keeps it */
    struct call *call;
    LIST_ENTRY(commit) in_namings;
    void (*then)(struct commit *commit); /* change.status is set */
};

/* then may be NULL: a failure is logged either way. */
MUST_CHECK enum status scheduler_commit_create(struct scheduler *scheduler,
                                               void (*then)(struct commit *commit),
                                               struct commit **ret_commit);
void scheduler_commit_destroy(struct commit *commit);
/* Adds the job's row as of now. */
MUST_CHECK enum status scheduler_commit_add_job(struct commit *commit, struct job *job);
void scheduler_commit_add_name(struct commit *commit, const char *name, const char *graph_id,
                               const char *tenant);
/* Whether the file of a graph is part of it. */
bool scheduler_commit_writes_graph(struct commit *commit);
/* Moves the commit to the disk threads; it comes back to then() and is freed after. */
void scheduler_commit_send(struct commit *commit);
/* Whether one is under way that gives this name of the tenant. */
bool scheduler_commit_names(const struct scheduler *scheduler, const struct tenant *tenant,
                            const char *name);

/* Makes the result answer: for its graph and the aliases; a job that is done with it finds it at
 * the first question, by results_find. */
MUST_CHECK enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                                       struct result *result);
/* An alias finds the result that its graph has. */
void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry);
/* The newest job of its graph: when it is done its id finds its result, and of the results of
 * several kinds it is this one that the graph and its aliases answer with from now on. */
void results_bind_latest(struct scheduler *scheduler, const struct job *job,
                         struct graph_entry *entry);
/* No query finds it any more. The commit, whose matter its file and row are, lets it go. */
void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit);
/* Evicts the results longest unasked until the budget holds, never `kept`. */
void results_evict(struct scheduler *scheduler, const struct result *kept);
/* Whether the graph of the job has its result already, verified when the job asks for that. */
bool results_is_known(const struct scheduler *scheduler, const struct graph_entry *entry,
                      const struct job *job);
/* Marks such a job done, with the report of the job that solved it; nothing is committed. */
void results_end_known_job(const struct scheduler *scheduler, struct job *job);
/* Whether the key of the call finds a result. The id of a job that is done is entered again if it
 * has lost its result and there is a newer one. */
bool results_find(struct scheduler *scheduler, const struct call *call);
/* From here on the result, not yet shared, goes to quarantine when it proves damaged, and its graph
 * is solved again. */
void results_watch(struct scheduler *scheduler, struct result *result);
/* The file of this graph goes to quarantine. */
void results_quarantine_graph(struct scheduler *scheduler, const char *graph_id);

/* ---- submit.c ---- */
/* For CALL_SUBMIT and CALL_STORE_GRAPH. */
void submit_call(struct scheduler *scheduler, struct call *call);
/* A job on a stored graph, for a question that waits for its result. */
void submit_for_result(struct scheduler *scheduler, struct call *call, struct graph_entry *entry,
                       enum kind kind);
/* Submissions go on whose graph is not being deleted any more, nor their name given. */
void submit_parked(struct scheduler *scheduler);

/* ---- accept.c ---- */
/* The commits of a submission have come back: of a graph, of a job. */
void accept_stored_graph(struct commit *commit);
void accept_stored_job(struct commit *commit);

/* ---- names.c ---- */
/* The name of the job, which is done, moves to its graph, unless it has moved elsewhere since. */
void names_move(struct scheduler *scheduler, const struct job *job, struct graph_entry *entry);
/* Adds the row of the name, which moves with the end of such a job. */
void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit);
/* The change of this name from the parent has ended, and its end is durable: the next one begins.
 * An empty name is none. */
void names_release(struct scheduler *scheduler, const struct tenant *tenant, const char *name,
                   const char *parent_id);
/* Deletes the graph if changes of a name made it, it has no name, and no job uses it. Once the move
 * of the name is durable. */
void names_sweep(struct scheduler *scheduler, const char *graph_id);
/* The graph answers no more; its rows and files go next. call: to answer, or NULL. */
void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call);

/* ---- finish.c ---- */
/* The task of the job has come home. */
void finish_task(struct scheduler_worker *slot, struct job *job, struct task *task);
/* job->report.problem tells why. */
void finish_failed(struct scheduler *scheduler, struct job *job);
/* Ends a queued job whose result its graph has already. */
void finish_known(struct scheduler *scheduler, struct job *job);
void finish_cancel(struct scheduler *scheduler, struct call *call);
/* Ends the jobs whose deadline is over. */
void finish_expired(struct scheduler *scheduler);
/* Ends that found no room on the disk are stored now. */
void finish_store_ends(struct scheduler *scheduler);
/* Forgets the oldest jobs beyond the limit of the history. */
void finish_trim_history(struct scheduler *scheduler);

/* ---- requests.c ---- */
void requests_list_jobs(struct scheduler *scheduler, struct call *call);
void requests_list_graphs(struct scheduler *scheduler, struct call *call);
void requests_show_job(struct scheduler *scheduler, struct call *call);
void requests_show_graph(struct scheduler *scheduler, struct call *call);
void requests_delete_graph(struct scheduler *scheduler, struct call *call);
void requests_call_result(struct scheduler *scheduler, struct call *call);
void requests_estimate(struct scheduler *scheduler, struct call *call);

/* ---- coordinates.c ---- */
void coordinates_put(struct scheduler *scheduler, struct call *call);
void coordinates_delete(struct scheduler *scheduler, struct call *call);

/* ---- restore.c ---- */
MUST_CHECK enum status restore_tables(struct scheduler *scheduler, struct problem *reterr);
/* After the workers are open: what was queued or running is queued. */
void restore_queue(struct scheduler *scheduler);

/* ---- graph_table.c ---- */
MUST_CHECK enum status graph_table_create(struct graph_table **ret_table);
void graph_table_destroy(struct graph_table *table);

/* A new one, not yet committed. The id must be unknown: it says whose graph it is, so that no two
 * tenants have the same one. tenant: NULL is nobody. */
MUST_CHECK enum status graph_table_add(struct graph_table *table, struct tenant *tenant,
                                       const struct graph_row *row, struct graph_entry **ret_entry);
/* Its row is in the catalogue, and its file too where that was written. */
void graph_entry_commit(struct graph_entry *entry, bool is_written);
/* Whether requests find the graph. */
static inline bool graph_entry_is_visible(const struct graph_entry *entry)
{
    return entry->state == GRAPH_STORED || entry->state == GRAPH_DAMAGED;
}
/* It has these coordinates now; zeroed, none. */
void graph_entry_set_coordinates(struct graph_entry *entry, const struct coordinates_info *info);
/* Forgets it with its aliases, and lets its results go. */
void graph_table_remove(struct graph_table *table, struct graph_entry *entry);
/* The same, when nothing was committed and nothing that could is on its way: after a refusal. */
void graph_table_drop(struct graph_table *table, struct graph_entry *entry);
/* Gives the alias to this graph, and takes it from another graph of its tenant. */
MUST_CHECK enum status graph_table_name(struct graph_table *table, const char *name,
                                        struct graph_entry *entry);

/* Whether a change of this name is under way: one at a time is. Without the name nothing is set.
 * The end of a change from another parent does not end it: the name was deleted and given again
 * meanwhile. */
bool graph_table_is_changing(const struct graph_table *table, const struct tenant *tenant,
                             const char *name);
void graph_table_set_changing(struct graph_table *table, const struct tenant *tenant,
                              const char *name, const char *parent_id);
void graph_table_end_changing(struct graph_table *table, const struct tenant *tenant,
                              const char *name, const char *parent_id);
/* By id, visible or not; NULL when there is none. For ids that are known here, not asked for. */
struct graph_entry *graph_table_find_id(const struct graph_table *table, const char *id);
/* The same among those of this tenant. */
struct graph_entry *graph_table_find_own(const struct graph_table *table,
                                         const struct tenant *tenant, const char *id);
/* By alias, visible or not. */
struct graph_entry *graph_table_find_name(const struct graph_table *table,
                                          const struct tenant *tenant, const char *name);
/* By id or alias, visible ones of this tenant only. */
struct graph_entry *graph_table_find(const struct graph_table *table, const struct tenant *tenant,
                                     const char *key);

/* Sets or, with NULL, lets go the result of a kind; takes a reference of its own. */
void graph_entry_set_result(struct graph_entry *entry, enum kind kind, struct result *result);
/* The result that answers queries, NULL when there is none. Borrowed. */
struct result *graph_entry_answer(const struct graph_entry *entry);
/* graph_choose_kind of the stored graph, by the summary that the catalogue keeps. */
MUST_CHECK enum status graph_entry_choose_kind(const struct graph_entry *entry, enum kind requested,
                                               enum kind *ret_kind, struct problem *reterr);
