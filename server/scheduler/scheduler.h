/* The scheduler owns all changing state: the job table, the graph table, the queue, the waiting
 * long-polls and the workers. Loop thread; HTTP threads send calls to it (calls.h). */
#pragma once

#include "server/config.h"
#include "server/scheduler/calls.h"
#include "server/store/store.h"
#include "server/worker/worker.h"

#define LIMIT_REASON_SIZE 160

/* State that HTTP threads read without a call: whether new work is accepted, and its limits.
 * Atomics, written by the loop thread. */
struct admission {
    atomic_bool draining; /* no new jobs; readiness is 503 */
    atomic_bool full;     /* the disk is full: new work is refused, queries are answered */
    atomic_ullong
        promised_bytes;        /* bytes of the disk reserved for jobs and by store.disk_reserve */
    atomic_uint queue_free;    /* number of free places in the queue */
    atomic_uint tenant_count;  /* number of tenants with a key that may submit jobs */
    atomic_uint retry_after_s; /* estimated time until the queue has a free place */
    uint32_t vertex_limit;     /* largest graph that a device holds, fixed at start */
    char limit_reason[LIMIT_REASON_SIZE]; /* source of vertex_limit, for the hint of the 413 */
    uint32_t hierarchy_vertex_limit;
    char hierarchy_limit_reason[LIMIT_REASON_SIZE];
};

#define DEVICE_LIMIT (SOLVE_DEVICES_MAX + 1)

/* The devices found at start-up, for /v1/devices, admission and the log. Immutable after start,
 * except the workers' health. */
struct device_list {
    struct solver_device devices[DEVICE_LIMIT]; /* indexed by worker */
    const struct worker_health
        *health[DEVICE_LIMIT]; /* health of the workers, which live longer than the list */
    uint32_t count;
    char gpu_reason[SOLVER_REASON_SIZE]; /* why no GPU is used; empty if one is */
};

/* Returns the list of tenants, which tenant_find extends. It and its tenants live as long as the
 * scheduler. Loop thread. */
struct tenant **scheduler_tenants(struct scheduler *scheduler);
/* Sets the number of tenants that may submit jobs. */
void scheduler_share_queue(struct scheduler *scheduler, unsigned tenant_count);

/* Passes a call to the scheduler. Any thread. */
void scheduler_post(struct scheduler *scheduler, struct call *call);
/* Ends the wait of a call whose client has disconnected, at once or when it begins; the call may be
 * answered already. The thread that posted the call. */
void scheduler_note_left(struct scheduler *scheduler, struct call *call);
/* Returns the number of calls that are posted but not answered. Any thread. */
unsigned scheduler_calls_open(const struct scheduler *scheduler);

const struct admission *scheduler_admission(const struct scheduler *scheduler);
const struct device_list *scheduler_devices(const struct scheduler *scheduler);

/* Returns the number of workers that are neither lost nor restarting. Any thread. */
uint32_t scheduler_ready_workers(const struct scheduler *scheduler);

/* Marks the graph's file as damaged: the next upload writes the file again. Any thread. */
void scheduler_note_damaged_graph(struct scheduler *scheduler, const char *graph_id);
/* Registers lost(), called once on the loop thread when a worker has lost its device, or the store
 * cannot write any more (STATUS_IO): the process should exit and be restarted. */
void scheduler_on_lost(struct scheduler *scheduler, void (*lost)(void *context, enum status why),
                       void *context);
