#include "server/scheduler/dispatch.h"

#include "server/clock.h"
#include "server/scheduler/commit.h"
#include "server/scheduler/finish.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/waiters.h"

#include <math.h>
#include <string.h>

const struct scheduler_worker *dispatch_largest_worker(const struct scheduler *scheduler,
                                                       uint32_t cost)
{
    const struct scheduler_worker *best = &scheduler->workers[0];
    for (uint32_t i = 1; i < scheduler->worker_count; i++) {
        const struct scheduler_worker *slot = &scheduler->workers[i];
        if (slot->facts->vertex_limit[cost] > best->facts->vertex_limit[cost]) {
            best = slot;
        }
    }
    return best;
}

const struct scheduler_worker *dispatch_fitting_worker(const struct scheduler *scheduler,
                                                       uint32_t vertex_count, uint32_t cost)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const struct scheduler_worker *slot = &scheduler->workers[i];
        if (slot != scheduler->group && vertex_count <= slot->facts->vertex_limit[cost]) {
            return slot;
        }
    }
    return NULL;
}

/* Returns the parent's hierarchy, from which an update of the changed graph starts; NULL = none. */
static struct result *find_base(const struct scheduler *scheduler, const struct job *job)
{
    const struct graph_entry *parent = graph_table_find_id(&scheduler->graphs, job->report.parent);
    struct result *base = parent != NULL ? parent->results[job->row.kind].result : NULL;
    const bool has_hierarchy = base != NULL && job->report.result.form == RESULT_FORM_HIERARCHY &&
                               result_form(base) == RESULT_FORM_HIERARCHY;
    return has_hierarchy ? result_ref(base) : NULL;
}

/* Records that the worker runs the job. */
static void start_job(struct scheduler *scheduler, struct scheduler_worker *slot, struct job *job)
{
    const struct solver_device *device = &slot->facts->device;
    slot->job = job;
    job->row.state = JOB_RUNNING;
    job->row.started_s = clock_wall_s();
    snprintf(job->report.solver, sizeof(job->report.solver), "%s", device->solver);
    snprintf(job->report.device, sizeof(job->report.device), "%s", device->name);
    log_write(LOG_INFO, "job_started", LOG_TEXT("job", job->row.id),
              LOG_TEXT("trace_id", job_trace_id(job->report.traceparent).text),
              LOG_TEXT("device", device->name),
              LOG_NUMBER("queue_s", job->row.started_s - job->row.created_s));
    metrics_observe(METRICS_QUEUE_SECONDS, fmax(job->row.started_s - job->row.created_s, 0));
    waiters_mark_changed(scheduler, job);
}

static void give_job(struct scheduler *scheduler, struct scheduler_worker *slot, struct job *job)
{
    struct task *task = &slot->task;
    struct commit *commit = scheduler->delivered;
    job->signal = worker_signal(slot->worker);
    *job->signal = (struct task_signal){0};
    *task = (struct task){
        .context = slot,
        .kind = job->row.kind,
        .form = job->report.result.form,
        .verify = job->row.verify,
        .vertex_count = job->vertex_count,
        .edge_count = job->graph->row.edge_count,
        .negative = job->graph->row.summary.negative,
        .base = find_base(scheduler, job),
        .arcs = job->arcs,
        .arc_count = job->arc_count,
        .order_seed = order_file_seed(store_secret(scheduler->store), job->tenant->name),
        .signal = job->signal,
    };
    memcpy(task->job_id, job->row.id, sizeof(job->row.id));
    memcpy(task->graph_id, job->row.graph_id, sizeof(job->row.graph_id));
    if (commit != NULL && commit->job == job) { /* the commit still has the graph */
        task->graph = commit->graph;
        task->shape = commit->shape;
        commit->graph = NULL;
        commit->shape = NULL;
    }
    start_job(scheduler, slot, job);
    worker_give(slot->worker, task);
}

void dispatch_receive_task(struct message *message)
{
    struct task *task = (struct task *)message;
    struct scheduler_worker *slot = task->context;
    struct job *job = slot->job;
    CHECK(strcmp(job->row.id, task->job_id) == 0);
    slot->job = NULL;
    finish_task(slot, job, task);
}

static bool is_ready(const struct scheduler_worker *slot)
{
    return slot->job == NULL && atomic_load(&worker_health_of(slot->worker)->state) == WORKER_READY;
}

/* Starts the next job that fits the worker's device, if the worker is idle. The largest device has
 * no vertex limit here, because a job may have been accepted when there was a larger device. A job
 * whose result already exists ends without a solve. */
static void start_next(struct scheduler *scheduler, struct scheduler_worker *slot)
{
    const uint32_t *own_limit = slot->facts->vertex_limit;
    uint32_t limit[COST_COUNT] = {0};
    struct job *job;
    if (!is_ready(slot)) {
        return;
    }
    for (uint32_t cost = KIND_I4; cost < COST_COUNT; cost++) {
        const struct scheduler_worker *largest = dispatch_largest_worker(scheduler, cost);
        const bool is_largest = own_limit[cost] >= largest->facts->vertex_limit[cost];
        limit[cost] = is_largest ? UINT32_MAX : own_limit[cost];
    }
    while (slot->job == NULL && (job = queue_first(&scheduler->queue, limit)) != NULL) {
        if (results_is_known(job)) {
            finish_known(scheduler, job);
        } else {
            queue_serve(&scheduler->queue, job);
            give_job(scheduler, slot, job);
        }
    }
}

/* Gives the first job to all devices together if it does not fit a single device, or if it is large
 * and no other job waits. Returns true if single devices must get no jobs now, because the group
 * runs a job or the first job needs all devices. */
static bool dispatch_to_group(struct scheduler *scheduler)
{
    struct scheduler_worker *group = scheduler->group;
    const struct job *first = queue_first(&scheduler->queue, NULL);
    bool is_idle = true;
    if (group == NULL || first == NULL || !is_ready(group)) {
        return group != NULL && group->job != NULL;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        is_idle = is_idle && scheduler->workers[i].job == NULL;
    }
    const bool needs_all =
        first->report.result.form == RESULT_FORM_MATRIX &&
        dispatch_fitting_worker(scheduler, first->vertex_count, first->cost) == NULL;
    const bool is_large = first->vertex_count >= SCHEDULER_GROUP_VERTICES_MIN &&
                          first->report.result.form == RESULT_FORM_MATRIX &&
                          scheduler->queue.count == 1;
    if (is_idle && (needs_all || is_large)) {
        start_next(scheduler, group);
        return group->job != NULL;
    }
    return needs_all;
}

void dispatch_jobs(struct scheduler *scheduler)
{
    const struct ledger *ledger = &scheduler->ledger;
    /* Result files stay open while they are stored or deleted, so they count towards the limit. */
    if (scheduler->stage != SCHEDULER_SERVES || ledger->is_paused ||
        ledger->result_count + scheduler->changes >= ledger->file_limit) {
        return;
    }
    if (dispatch_to_group(scheduler)) {
        return;
    }
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->queue.count > 0; i++) {
        struct scheduler_worker *slot =
            &scheduler->workers[(scheduler->next_worker + i) % scheduler->worker_count];
        if (slot != scheduler->group) {
            start_next(scheduler, slot);
        }
    }
}
