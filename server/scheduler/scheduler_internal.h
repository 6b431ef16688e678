/* The state that the files of the scheduler share. Loop thread.
 *
 * A handler changes tables and sets marks; it never dispatches or wakes waiters itself. The loop
 * acts on the marks once at the end of each turn (scheduler.c). Files call only files below them in
 * README.md. */
#pragma once

#include "server/scheduler/graphs.h"
#include "server/scheduler/jobs.h"
#include "server/scheduler/ledger.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/tenants.h"
#include "server/worker/worker.h"

/* A worker and its job. */
struct scheduler_worker {
    struct scheduler *scheduler;
    struct worker *worker;
    const struct worker_facts *facts; /* facts that the worker found at its start */
    struct job *job;                  /* running job; NULL = the worker is idle */
    struct task task;                 /* task, lent to the worker while it has a job */
};

/* Work to do at the end of the turn. */
struct scheduler_marks {
    struct job *changed; /* jobs whose waiters must be woken */
    /* Resume parked submissions, because a deletion, a move or a commit of a name has ended. */
    bool unparked;
    bool ends_unstored;      /* try again to store the ends of jobs */
    bool alarm_rang;         /* a wait has timed out or a deadline has passed */
    atomic_bool client_left; /* a client has disconnected; any thread */
};

/* Stages of the scheduler's life, in this order. */
enum scheduler_stage {
    SCHEDULER_SERVES = 0,
    SCHEDULER_DRAINS, /* no new jobs; work under way ends, or returns to the queue */
    SCHEDULER_DRAINED /* no work is left; drained() was called */
};

/* From this number of vertices on, two devices take little more than half the time of one. */
#define SCHEDULER_GROUP_VERTICES_MIN 8192

struct scheduler {
    uv_loop_t *loop;
    const struct config *config;
    const struct worker_launcher *launcher; /* NULL = none */
    struct store *store;
    struct result_table *results;
    void (*note_damage)(void *context, struct result *result); /* callback for result_watch */
    struct mailbox *mailbox;

    uv_async_t wake;
    uv_timer_t alarm;  /* set to the earliest deadline or end of a wait */
    double alarm_at_s; /* in monotonic time; 0 = not set */
    uv_timer_t drain_alarm;
    uv_timer_t watch_tick; /* timer that runs while an event stream waits */
    uv_timer_t room_tick;  /* timer that runs while the ledger is paused */
    uint32_t handles_open;

    struct admission admission;
    struct device_list devices;
    uint32_t vertex_limit[COST_COUNT]; /* indexed by graph_cost */
    struct scheduler_worker workers[DEVICE_LIMIT];
    uint32_t worker_count;
    uint32_t next_worker; /* index of the worker that gets a job first */
    /* The worker that uses all devices together, while the others are idle; NULL = none. */
    struct scheduler_worker *group;

    struct job_table jobs;
    struct job_queue queue;
    struct commit *delivered; /* last commit of this turn; a task may take its graph and shape */
    struct tenant *tenants;
    struct tenant *nobody; /* the tenant without a name */
    struct graph_table graphs;
    struct ledger ledger;
    struct result_list items; /* the least recently used result first */
    uint32_t submissions;     /* number of submissions under way, including parked ones */
    struct pool pool;
    uint32_t changes;                 /* number of commits that are not on the disk yet */
    STAILQ_HEAD(, submission) parked; /* in the order of the calls */
    LIST_HEAD(, commit) namings;      /* commits under way that assign a name */
    LIST_HEAD(, name_move) moves;     /* pending moves of names */
    LIST_HEAD(, call) waiting;        /* calls that wait for a job */
    uint32_t event_count;             /* number of event streams in `waiting` */
    double typical_solve_s;           /* moving average, used for Retry-After */
    atomic_uint calls_open;
    struct scheduler_marks marks;

    enum scheduler_stage stage;
    void (*drained)(void *context);
    void *drained_context;
    enum status lost_status; /* reason why the process must exit; STATUS_OK = none */
    void (*lost)(void *context, enum status why); /* NULL once called */
    void *lost_context;
};

/* Makes the loop call scheduler_settle. Any thread. */
static inline void scheduler_wake(struct scheduler *scheduler)
{
    CHECK(uv_async_send(&scheduler->wake) == 0);
}

/* Posts CALL_DAMAGE for a result. Any thread. */
void scheduler_note_damaged_result(void *scheduler, struct result *result);
/* Delivers the messages in the mailbox, but does not call scheduler_settle. */
void scheduler_deliver_messages(struct scheduler *scheduler);
/* The callback of scheduler->wake: delivers messages, then settles. libuv coalesces calls of
 * uv_async_send, so one callback may deliver many messages. */
void scheduler_turn(uv_async_t *wake);
/* Acts on the marks: dispatches, wakes waiters, trims the history, publishes counters, checks the
 * drain. May free the scheduler, after drained(). */
void scheduler_settle(struct scheduler *scheduler);
