#include "server/scheduler/answer.h"
#include "server/scheduler/commit.h"
#include "server/scheduler/coordinates.h"
#include "server/scheduler/dispatch.h"
#include "server/scheduler/finish.h"
#include "server/scheduler/requests.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/submit.h"
#include "server/scheduler/waiters.h"

#include <stdlib.h>

static const struct {
    void (*deliver)(struct scheduler *scheduler, struct call *call);
    bool changes; /* whether the call changes the store */
} handlers[] = {
    [CALL_SUBMIT] = {submit_call, true},
    [CALL_CHANGE] = {submit_call, true},
    [CALL_STORE_GRAPH] = {submit_call, true},
    [CALL_JOB] = {requests_show_job, false},
    [CALL_EVENTS] = {waiters_stream, false},
    [CALL_JOBS] = {requests_list_jobs, false},
    [CALL_CANCEL] = {finish_cancel, true},
    [CALL_GRAPHS] = {requests_list_graphs, false},
    [CALL_GRAPH] = {requests_show_graph, false},
    [CALL_ESTIMATE] = {requests_estimate, false},
    [CALL_DELETE_GRAPH] = {requests_delete_graph, true},
    [CALL_PUT_COORDINATES] = {coordinates_put, true},
    [CALL_DELETE_COORDINATES] = {coordinates_delete, true},
    [CALL_DAMAGE] = {requests_note_damage, true},
    [CALL_RESULT] = {requests_call_result, false},
};

/* Delivers a call. During a shutdown new work is refused at once, and calls that change the store
 * are refused after drained(). All other calls are answered from memory. */
static void deliver_call(struct message *message)
{
    struct call *call = (struct call *)message;
    struct scheduler *scheduler = call->scheduler;
    if ((scheduler->stage != SCHEDULER_SERVES && call_brings_job(call)) ||
        (scheduler->stage == SCHEDULER_DRAINED && handlers[call->kind].changes)) {
        answer_status(call, STATUS_DRAINING, "The service is shutting down.");
    } else {
        handlers[call->kind].deliver(scheduler, call);
    }
}

void scheduler_post(struct scheduler *scheduler, struct call *call)
{
    atomic_fetch_add(&scheduler->calls_open, 1);
    call->scheduler = scheduler;
    call->tenant = call->tenant != NULL ? call->tenant : scheduler->nobody;
    call->message.deliver = deliver_call;
    mailbox_post(scheduler->mailbox, &call->message);
}

void scheduler_note_left(struct scheduler *scheduler, struct call *call)
{
    if (!atomic_exchange(&call->client_left, true)) {
        atomic_store(&scheduler->marks.client_left, true);
        scheduler_wake(scheduler);
    }
}

static void free_notice(struct call *call)
{
    call_finish(call);
    free(call);
}

/* Posts CALL_DAMAGE. If memory for the call runs out, the next access finds the damage again. */
static void post_damage(struct scheduler *scheduler, struct result *result, const char *graph_id)
{
    struct call *call = calloc(1, sizeof(*call));
    if (call != NULL) {
        call->kind = CALL_DAMAGE;
        call->damaged = result != NULL ? result_ref(result) : NULL;
        call->answered = free_notice;
        snprintf(call->key, sizeof(call->key), "%s", graph_id);
        scheduler_post(scheduler, call);
    }
}

void scheduler_note_damaged_result(void *scheduler, struct result *result)
{
    post_damage(scheduler, result, result_graph_id(result));
}

void scheduler_note_damaged_graph(struct scheduler *scheduler, const char *graph_id)
{
    post_damage(scheduler, NULL, graph_id);
}

unsigned scheduler_calls_open(const struct scheduler *scheduler)
{
    return atomic_load(&scheduler->calls_open);
}

struct tenant **scheduler_tenants(struct scheduler *scheduler)
{
    return &scheduler->tenants;
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

uint32_t scheduler_ready_workers(const struct scheduler *scheduler)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scheduler->devices.count; i++) {
        count += atomic_load(&scheduler->devices.health[i]->state) == WORKER_READY;
    }
    return count;
}

void scheduler_on_lost(struct scheduler *scheduler, void (*lost)(void *context, enum status why),
                       void *context)
{
    scheduler->lost = lost;
    scheduler->lost_context = context;
}

static uint32_t count_running(const struct scheduler *scheduler)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        count += scheduler->workers[i].job != NULL;
    }
    return count;
}

static void check_drain(struct scheduler *scheduler)
{
    if (scheduler->stage != SCHEDULER_DRAINS || scheduler->changes > 0 ||
        scheduler->submissions > 0 || !pool_is_idle(&scheduler->pool) ||
        count_running(scheduler) > 0) {
        return;
    }
    scheduler->stage = SCHEDULER_DRAINED;
    uv_timer_stop(&scheduler->drain_alarm);
    uv_timer_stop(&scheduler->alarm);
    uv_timer_stop(&scheduler->room_tick);
    waiters_end(scheduler, true);
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
    if (atomic_exchange(&marks->client_left, false) || marks->alarm_rang) {
        waiters_expire(scheduler);
    }
    if (marks->alarm_rang) {
        marks->alarm_rang = false;
        finish_expired(scheduler);
    }
    dispatch_jobs(scheduler);
    commit_destroy(scheduler->delivered);
    scheduler->delivered = NULL;
    ledger_publish(scheduler);
    metrics_set(METRIC_JOBS_QUEUED, scheduler->queue.count);
    metrics_set(METRIC_JOBS_RUNNING, count_running(scheduler));
    metrics_set(METRIC_WORKERS, scheduler_ready_workers(scheduler));
    metrics_set(METRIC_QUEUE_LIMIT, scheduler->config->queue_limit);
    metrics_set(METRIC_READY, scheduler_ready_workers(scheduler) > 0);
    metrics_set(METRIC_DRAINING, atomic_load(&scheduler->admission.draining));
    metrics_set(METRIC_RESULTS, scheduler->ledger.result_count);
    metrics_set(METRIC_RESULT_BYTES, (double)scheduler->ledger.result_bytes);
    /* The metrics are set before clients are woken, because a client may read them next. */
    waiters_wake(scheduler);
    finish_trim_history(scheduler);
    void (*lost)(void *context, enum status why) = scheduler->lost;
    if (scheduler->lost_status != STATUS_OK && lost != NULL) {
        scheduler->lost = NULL;
        lost(scheduler->lost_context, scheduler->lost_status);
    }
    check_drain(scheduler);
}

void scheduler_deliver_messages(struct scheduler *scheduler)
{
    struct message *message;
    while ((message = mailbox_pop(scheduler->mailbox)) != NULL) {
        message->deliver(message);
    }
}

void scheduler_turn(uv_async_t *wake)
{
    scheduler_deliver_messages(wake->data);
    scheduler_settle(wake->data);
}
