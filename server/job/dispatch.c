#include "server/clock.h"
#include "server/job/scheduler_internal.h"

#include <math.h>
#include <string.h>

static bool is_idle(const struct scheduler_worker *slot)
{
    return !slot->busy && atomic_load(&worker_health_of(slot->worker)->state) == WORKER_READY;
}

static void start_job(struct scheduler *scheduler, struct scheduler_worker *slot,
                      const struct graph_entry *entry, struct job *job)
{
    const struct solver_device *device = &slot->opening.facts.device;
    struct task_signal *signal = worker_signal(slot->worker);
    job->state = JOB_RUNNING;
    job->started_s = clock_wall_s();
    snprintf(job->report.solver, sizeof(job->report.solver), "%s", device->solver);
    snprintf(job->report.device, sizeof(job->report.device), "%s", device->name);
    job->signal = signal != NULL ? signal : &job->own_signal;
    task_signal_reset(job->signal);
    capacity_release(scheduler, job->tenant, &job->held,
                     (struct capacity){.memory_bytes = job->held.memory_bytes});
    slot->task = (struct task){
        .context = slot,
        .graph = job->graph,
        .kind = job->kind,
        .verify = job->verify,
        .vertex_count = job->vertex_count,
        .edge_count = entry->row.edge_count,
        .negative = entry->row.summary.negative,
        .signal = job->signal,
    };
    job->graph = NULL;
    memcpy(slot->task.job_id, job->id, sizeof(job->id));
    memcpy(slot->task.graph_id, job->graph_id, sizeof(job->graph_id));
    slot->busy = true;
    slot->job = job;
    char trace_id[TRACE_ID_SIZE];
    job_trace_id(job, trace_id);
    log_write(LOG_INFO, "job_started", LOG_TEXT("job", job->id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("device", device->name),
              LOG_NUMBER("queue_s", job->started_s - job->created_s));
    metrics_observe(METRICS_QUEUE_SECONDS, fmax(job->started_s - job->created_s, 0));
    waiters_mark_changed(scheduler, job);
    worker_give(slot->worker, &slot->task);
}

/* Starts the next job that the device holds. The largest device is given all: a job may have been
 * accepted when there was a larger one. An equal job may have ended since one was accepted: such a
 * job ends without a solve. */
static void start_next(struct scheduler *scheduler, struct scheduler_worker *slot)
{
    const uint32_t *own_limit = slot->opening.facts.vertex_limit;
    uint32_t limit[KIND_COUNT] = {0};
    struct job *job;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        const struct scheduler_worker *largest = capacity_largest_worker(scheduler, kind);
        const bool is_largest = own_limit[kind] >= largest->opening.facts.vertex_limit[kind];
        limit[kind] = is_largest ? UINT32_MAX : own_limit[kind];
    }
    while (!slot->busy && (job = job_queue_first_within(&scheduler->queue, limit)) != NULL) {
        const struct graph_entry *entry = graph_table_find_id(scheduler->graphs, job->graph_id);
        CHECK(entry != NULL);
        if (results_is_known(scheduler, entry, job)) {
            finish_known(scheduler, job);
        } else {
            job_queue_take(&scheduler->queue, job);
            start_job(scheduler, slot, entry, job);
        }
    }
}

void dispatch_jobs(struct scheduler *scheduler)
{
    if (scheduler->draining || scheduler->capacity.is_paused) {
        return;
    }
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->queue.count > 0; i++) {
        struct scheduler_worker *slot =
            scheduler->workers[(scheduler->next_worker + i) % scheduler->worker_count];
        if (is_idle(slot)) {
            start_next(scheduler, slot);
        }
    }
}
