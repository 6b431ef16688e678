#include "server/clock.h"
#include "server/scheduler/scheduler_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Calls of HTTP threads ---- */

static void deliver_call(struct message *message)
{
    struct call *call = (struct call *)message;
    struct scheduler *scheduler = call->scheduler;
    /* The only place where calls are refused for the shutdown: from its beginning those that bring
     * new work, and once its end has been told, when nothing may be under way again, all that
     * change something. The rest is answered from memory. */
    const bool changes = call_brings_job(call) || call->kind == CALL_CANCEL ||
                         call->kind == CALL_DELETE_GRAPH || call->kind == CALL_PUT_COORDINATES ||
                         call->kind == CALL_DELETE_COORDINATES;
    if (scheduler->drained_told ? changes : scheduler->draining && call_brings_job(call)) {
        answer_status(call, STATUS_DRAINING, "The service is shutting down.");
        return;
    }
    switch (call->kind) {
    case CALL_SUBMIT:
    case CALL_CHANGE:
    case CALL_STORE_GRAPH:
        submit_call(scheduler, call);
        return;
    case CALL_JOB:
        requests_show_job(scheduler, call);
        return;
    case CALL_EVENTS:
        answer_stream(scheduler, call);
        return;
    case CALL_JOBS:
        requests_list_jobs(scheduler, call);
        return;
    case CALL_CANCEL:
        finish_cancel(scheduler, call);
        return;
    case CALL_GRAPHS:
        requests_list_graphs(scheduler, call);
        return;
    case CALL_GRAPH:
        requests_show_graph(scheduler, call);
        return;
    case CALL_ESTIMATE:
        requests_estimate(scheduler, call);
        return;
    case CALL_DELETE_GRAPH:
        requests_delete_graph(scheduler, call);
        return;
    case CALL_PUT_COORDINATES:
        coordinates_put(scheduler, call);
        return;
    case CALL_DELETE_COORDINATES:
        coordinates_delete(scheduler, call);
        return;
    case CALL_RESULT:
        requests_call_result(scheduler, call);
        return;
    }
    CHECK(false); /* a call of no kind */
}

void scheduler_post(struct scheduler *scheduler, struct call *call)
{
    atomic_fetch_add(&scheduler->calls_open, 1);
    call->scheduler = scheduler;
    call->tenant = call->tenant != NULL ? call->tenant : scheduler->nobody;
    call->message.deliver = deliver_call;
    mailbox_post(scheduler->mailbox, &call->message);
}

static void deliver_left(struct message *message)
{
    struct call *call = (struct call *)(void *)((char *)message - offsetof(struct call, left));
    struct scheduler *scheduler = call->scheduler;
    call->client_left = true;
    if (call->job != NULL) {
        log_write(LOG_DEBUG, "client_left", LOG_TEXT("job", call->job->id));
        answer_release(scheduler, call);
    }
    call->left_noted(call);
    atomic_fetch_sub(&scheduler->calls_open, 1);
}

void scheduler_post_left(struct scheduler *scheduler, struct call *call)
{
    atomic_fetch_add(&scheduler->calls_open, 1);
    call->left.deliver = deliver_left;
    mailbox_post(scheduler->mailbox, &call->left);
}

unsigned scheduler_calls_open(const struct scheduler *scheduler)
{
    return atomic_load(&scheduler->calls_open);
}

enum status scheduler_tenant(struct scheduler *scheduler, const char *name,
                             struct tenant **ret_tenant)
{
    return capacity_find_tenant(&scheduler->tenants, name, ret_tenant);
}

void scheduler_share_queue(struct scheduler *scheduler, unsigned tenant_count)
{
    atomic_store(&scheduler->admission.tenant_count, tenant_count);
}

const struct admission *scheduler_admission(const struct scheduler *scheduler)
{
    return &scheduler->admission;
}

const struct device_list *scheduler_devices(const struct scheduler *scheduler)
{
    return &scheduler->devices;
}

static uint32_t count_ready(const struct scheduler *scheduler)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scheduler->devices.count; i++) {
        count += atomic_load(&scheduler->devices.health[i]->state) == WORKER_READY;
    }
    return count;
}

bool scheduler_has_worker(const struct scheduler *scheduler)
{
    return count_ready(scheduler) > 0;
}

void scheduler_on_lost(struct scheduler *scheduler, void (*lost)(void *context, enum status why),
                       void *context)
{
    scheduler->lost = lost;
    scheduler->lost_context = context;
}

/* ---- To the workers ---- */

/* The hierarchy of the parent, from which that of a change is made; NULL: none. */
static struct result *find_base(const struct scheduler *scheduler, const struct job *job)
{
    const struct graph_entry *parent = graph_table_find_id(scheduler->graphs, job->report.parent);
    struct result *base = parent != NULL ? parent->results[job->kind] : NULL;
    const bool has_hierarchy = base != NULL && job->report.result.form == RESULT_FORM_HIERARCHY &&
                               result_form(base) == RESULT_FORM_HIERARCHY;
    return has_hierarchy ? result_ref(base) : NULL;
}

/* The worker has the job in hand. */
static void start_job(struct scheduler *scheduler, struct scheduler_worker *slot, struct job *job)
{
    const struct solver_device *device = &slot->opening.facts.device;
    char trace_id[TRACE_ID_SIZE];
    slot->job = job;
    job->state = JOB_RUNNING;
    job->started_s = clock_wall_s();
    snprintf(job->report.solver, sizeof(job->report.solver), "%s", device->solver);
    snprintf(job->report.device, sizeof(job->report.device), "%s", device->name);
    job_trace_id(job, trace_id);
    log_write(LOG_INFO, "job_started", LOG_TEXT("job", job->id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("device", device->name),
              LOG_NUMBER("queue_s", job->started_s - job->created_s));
    metrics_observe(METRICS_QUEUE_SECONDS, fmax(job->started_s - job->created_s, 0));
    answer_mark_changed(scheduler, job);
}

static void give_job(struct scheduler *scheduler, struct scheduler_worker *slot,
                     const struct graph_entry *entry, struct job *job)
{
    struct task *task = &slot->task;
    struct task_signal *signal = worker_signal(slot->worker);
    job->signal = signal != NULL ? signal : &job->own_signal;
    task_signal_reset(job->signal);
    capacity_release(scheduler, job->tenant, &job->held,
                     (struct capacity){.memory_bytes = job->held.memory_bytes});
    *task = (struct task){
        .context = slot,
        .graph = job->graph,
        .kind = job->kind,
        .form = job->report.result.form,
        .verify = job->verify,
        .vertex_count = job->vertex_count,
        .edge_count = entry->row.edge_count,
        .negative = entry->row.summary.negative,
        .base = find_base(scheduler, job),
        .arcs = job->arcs,
        .arc_count = job->arc_count,
        .plan_seed = plan_file_seed(store_secret(scheduler->store), job->tenant->name),
        .signal = job->signal,
    };
    job->graph = NULL;
    memcpy(task->job_id, job->id, sizeof(job->id));
    memcpy(task->graph_id, job->graph_id, sizeof(job->graph_id));
    start_job(scheduler, slot, job);
    worker_give(slot->worker, task);
}

void scheduler_receive_task(struct message *message)
{
    struct task *task = (struct task *)message;
    struct scheduler_worker *slot = task->context;
    struct job *job = slot->job;
    CHECK(strcmp(job->id, task->job_id) == 0);
    slot->job = NULL;
    finish_task(slot, job, task);
}

static bool is_ready(const struct scheduler_worker *slot)
{
    return slot->job == NULL && atomic_load(&worker_health_of(slot->worker)->state) == WORKER_READY;
}

/* Starts the next job that the device holds. The largest device is given all: a job may have been
 * accepted when there was a larger one. An equal job may have ended since one was accepted: such a
 * job ends without a solve. */
static void start_next(struct scheduler *scheduler, struct scheduler_worker *slot)
{
    const uint32_t *own_limit = slot->opening.facts.vertex_limit;
    uint32_t limit[KIND_COUNT] = {0};
    struct job *job;
    if (!is_ready(slot)) {
        return;
    }
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        const struct scheduler_worker *largest = capacity_largest_worker(scheduler, kind);
        const bool is_largest = own_limit[kind] >= largest->opening.facts.vertex_limit[kind];
        limit[kind] = is_largest ? UINT32_MAX : own_limit[kind];
    }
    while (slot->job == NULL && (job = job_queue_first_within(&scheduler->queue, limit)) != NULL) {
        const struct graph_entry *entry = graph_table_find_id(scheduler->graphs, job->graph_id);
        CHECK(entry != NULL);
        if (results_is_known(scheduler, entry, job)) {
            finish_known(scheduler, job);
        } else {
            job_queue_take(&scheduler->queue, job);
            give_job(scheduler, slot, entry, job);
        }
    }
}

static bool fits_alone(const struct scheduler *scheduler, const struct job *job)
{
    bool fits = job->report.result.form == RESULT_FORM_HIERARCHY;
    for (uint32_t i = 0; i < scheduler->worker_count && !fits; i++) {
        const struct scheduler_worker *slot = scheduler->workers[i];
        fits = slot != scheduler->group &&
               job->vertex_count <= slot->opening.facts.vertex_limit[job->kind];
    }
    return fits;
}

/* Gives the first job to all devices together where none holds it alone, or it is large and nobody
 * waits behind it. False: the devices may be given jobs one by one. They are not while the group
 * works, nor while they are to become idle for it. */
static bool dispatch_to_group(struct scheduler *scheduler)
{
    struct scheduler_worker *group = scheduler->group;
    const struct job *first = job_queue_first(&scheduler->queue);
    bool is_idle = true;
    if (group == NULL || first == NULL || !is_ready(group)) {
        return group != NULL && group->job != NULL;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        is_idle = is_idle && scheduler->workers[i]->job == NULL;
    }
    const bool needs_all = !fits_alone(scheduler, first);
    const bool is_large = first->vertex_count >= SCHEDULER_GROUP_VERTICES_MIN &&
                          first->report.result.form == RESULT_FORM_MATRIX &&
                          scheduler->queue.count == 1;
    if (is_idle && (needs_all || is_large)) {
        start_next(scheduler, group);
        return group->job != NULL;
    }
    return needs_all;
}

static void dispatch_jobs(struct scheduler *scheduler)
{
    const struct capacity_ledger *ledger = &scheduler->capacity;
    /* Jobs that end faster than the disk takes their results, and lets old ones go, would use up
     * the open files. */
    if (scheduler->draining || ledger->is_paused ||
        ledger->result_count + scheduler->changes >= ledger->file_limit) {
        return;
    }
    if (dispatch_to_group(scheduler)) {
        return;
    }
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->queue.count > 0; i++) {
        struct scheduler_worker *slot =
            scheduler->workers[(scheduler->next_worker + i) % scheduler->worker_count];
        if (slot != scheduler->group) {
            start_next(scheduler, slot);
        }
    }
}

/* ---- The turns of the loop ---- */

static uint32_t count_running(const struct scheduler *scheduler)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        count += scheduler->workers[i]->job != NULL;
    }
    return count;
}

/* Tells of the end of the drain when nothing is under way any more. */
static void check_drain(struct scheduler *scheduler)
{
    if (!scheduler->draining || scheduler->drained_told || scheduler->changes > 0 ||
        scheduler->submissions > 0 || scheduler->looks > 0 || count_running(scheduler) > 0) {
        return;
    }
    scheduler->drained_told = true;
    uv_timer_stop(&scheduler->drain_alarm);
    uv_timer_stop(&scheduler->alarm);
    uv_timer_stop(&scheduler->room_tick);
    answer_end_streams(scheduler);
    log_write(LOG_INFO, "drained", LOG_NUMBER("queued", scheduler->queue.count));
    scheduler->drained(scheduler->drained_context);
}

void scheduler_settle(struct scheduler *scheduler)
{
    struct scheduler_marks *marks = &scheduler->marks;
    if (marks->unparked) {
        marks->unparked = false;
        submit_parked(scheduler);
    }
    if (marks->ends_unstored) {
        marks->ends_unstored = false;
        finish_store_ends(scheduler);
    }
    if (marks->alarm_rang) {
        marks->alarm_rang = false;
        answer_expire(scheduler);
        finish_expired(scheduler);
    }
    dispatch_jobs(scheduler);
    answer_wake(scheduler);
    finish_trim_history(scheduler);
    capacity_publish(scheduler);
    metrics_set(METRIC_JOBS_QUEUED, scheduler->queue.count);
    metrics_set(METRIC_JOBS_RUNNING, count_running(scheduler));
    metrics_set(METRIC_WORKERS, count_ready(scheduler));
    metrics_set(METRIC_QUEUE_LIMIT, scheduler->config->queue_limit);
    metrics_set(METRIC_READY, atomic_load(&scheduler->admission.ready));
    metrics_set(METRIC_DRAINING, atomic_load(&scheduler->admission.draining));
    if (scheduler->lost_status != STATUS_OK && !scheduler->lost_told && scheduler->lost != NULL) {
        scheduler->lost_told = true;
        scheduler->lost(scheduler->lost_context, scheduler->lost_status);
    }
    check_drain(scheduler);
}

void scheduler_deliver_messages(struct scheduler *scheduler)
{
    struct message *message;
    while ((message = mailbox_take(scheduler->mailbox)) != NULL) {
        message->deliver(message);
    }
}

void scheduler_turn(uv_async_t *wake)
{
    scheduler_deliver_messages(wake->data);
    scheduler_settle(wake->data);
}
