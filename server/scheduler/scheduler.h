/* The scheduler: owner of all state that changes, on the loop thread alone: the job table, the
 * graph table, the queue, the waiting long-polls and the workers.
 * HTTP threads ask it by calls (calls.h). */
#pragma once

#include "server/config.h"
#include "server/scheduler/calls.h"
#include "server/store/result.h"
#include "server/store/store.h"
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

/* Finds or makes it; it lives as long as the scheduler. Loop thread, or before the loop runs. */
MUST_CHECK enum status scheduler_tenant(struct scheduler *scheduler, const char *name,
                                        struct tenant **ret_tenant);
/* So many tenants may submit jobs. */
void scheduler_share_queue(struct scheduler *scheduler, unsigned tenant_count);

/* Hands a call to the scheduler. Any thread. */
void scheduler_post(struct scheduler *scheduler, struct call *call);
/* The client of a call has left: it waits no longer. The call may be answered already, but must
 * live until left_noted is called as well, on the loop thread, where answered is called. */
void scheduler_post_left(struct scheduler *scheduler, struct call *call);
/* Calls posted and not yet answered. Any thread. */
unsigned scheduler_calls_open(const struct scheduler *scheduler);

const struct admission *scheduler_admission(const struct scheduler *scheduler);
const struct device_list *scheduler_devices(const struct scheduler *scheduler);

/* Whether a worker is ready, that is not lost or being started again. Any thread. */
bool scheduler_has_worker(const struct scheduler *scheduler);

/* The file of this graph proved damaged: the next upload of it writes the file anew. Any thread. */
void scheduler_note_damaged_graph(struct scheduler *scheduler, const char *graph_id);
/* A worker lost its device, or the store what it was to keep (STATUS_IO): the process should leave
 * and be started again. lost() is called on the loop, once, when that happens. */
void scheduler_on_lost(struct scheduler *scheduler, void (*lost)(void *context, enum status why),
                       void *context);
