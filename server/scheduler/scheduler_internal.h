/* The scheduler from inside: the state that its files share, on the loop thread.
 *
 * A handler changes tables and sets marks; it never dispatches or wakes by itself. The loop settles
 * once at the end of each turn (scheduler.c). README.md lists the files; calls between them go down
 * only. */
#pragma once

#include "server/metrics.h"
#include "server/scheduler/graphs.h"
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
    struct job *job;  /* of the task in hand; NULL: the worker is idle */
    struct task task; /* with a job: lent to the worker */
};

/* Steps that wait for the end of the turn. */
struct scheduler_marks {
    struct job *changed; /* jobs whose waiters are to be woken */
    bool unparked;       /* a deletion, a naming or a move has ended: what waits for it goes on */
    bool ends_unstored;  /* ends that found no room on the disk are to be stored */
    bool alarm_rang;     /* waits or deadlines are over */
};

/* The life of the scheduler, in this order. */
enum scheduler_stage {
    SCHEDULER_SERVES = 0,
    SCHEDULER_DRAINS, /* no new jobs; what is under way ends, or goes back into the queue */
    SCHEDULER_DRAINED /* nothing is under way, or changes any more, and that has been told */
};

/* From here on two devices solve a graph in little more than half of the time of one. */
#define SCHEDULER_GROUP_VERTICES_MIN 8192

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
    uint32_t vertex_limit[COST_COUNT]; /* by graph_cost */
    struct scheduler_worker *workers[DEVICE_LIMIT];
    uint32_t worker_count;
    uint32_t opening_count; /* workers whose opening has come */
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
    struct result_list items; /* the least recently used result first */
    uint32_t submissions;     /* under way, parked ones included */
    struct pool pool;
    uint32_t changes;                 /* on their way to the disk */
    STAILQ_HEAD(, submission) parked; /* in the order of their calls */
    LIST_HEAD(, commit) namings;      /* commits with a name, under way */
    LIST_HEAD(, name_move) moves;     /* names that are to move */
    LIST_HEAD(, call) waiting;        /* all calls that wait for a job */
    uint32_t event_count;             /* streams of events among them */
    double deadline_at_s;   /* no unfinished job has an earlier deadline; 0 = none has one */
    double typical_solve_s; /* smoothed, for the guess of Retry-After */
    atomic_uint calls_open;
    struct scheduler_marks marks;

    enum scheduler_stage stage;
    void (*drained)(void *context);
    void *drained_context;
    enum status lost_status; /* why the process cannot go on; STATUS_OK = it can */
    void (*lost)(void *context, enum status why); /* NULL once called */
    void *lost_context;
};

/* The loop settles soon: for handlers of timers and of libuv's pool, which are no messages. */
static inline void scheduler_wake(struct scheduler *scheduler)
{
    CHECK(uv_async_send(&scheduler->wake) == 0);
}

/* Delivers the messages that have come, nothing else. */
void scheduler_deliver_messages(struct scheduler *scheduler);
/* The callback of scheduler->wake: messages, then scheduler_settle. Sends coalesce, so one call may
 * stand for many messages. */
void scheduler_turn(uv_async_t *wake);
/* Acts on the marks: dispatches, wakes waiters, forgets old jobs, publishes counters, checks the
 * drain. After the drain has been told the scheduler may be gone. */
void scheduler_settle(struct scheduler *scheduler);
