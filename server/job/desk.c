#include "server/job/desk_internal.h"

#include "proto/check.h"
#include "server/clock.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#define FEW_FILES 4096

void ask_finish(struct ask *ask)
{
    reader_destroy(ask->reader);
    graph_stream_drop(ask->stream);
    upload_share_give_back(&ask->share);
    free(ask->body);
    ask->reader = NULL;
    ask->stream = NULL;
    ask->body = NULL;
}

enum status desk_tenant(struct desk *desk, const char *name, struct tenant **ret_tenant)
{
    return tenant_table_get(desk->tenants, name, ret_tenant);
}

struct job *desk_find_job(const struct desk *desk, const struct ask *ask, const char *id)
{
    return job_table_find(desk->jobs, ask->tenant, id);
}

static void show_job(struct desk *desk, struct ask *ask)
{
    struct job *job = desk_find_job(desk, ask, ask->key);
    if (job == NULL) {
        desk_answer_no_such(ask);
    } else {
        desk_wait(desk, ask, job);
    }
}

static void answer_ask(struct desk *desk, struct ask *ask)
{
    switch (ask->kind) {
    case ASK_SUBMIT:
        desk_submit(desk, ask);
        return;
    case ASK_STORE_GRAPH:
        desk_submit_graph(desk, ask);
        return;
    case ASK_JOB:
        show_job(desk, ask);
        return;
    case ASK_EVENTS:
        desk_watch(desk, ask);
        return;
    case ASK_JOBS:
        desk_list_jobs(desk, ask);
        return;
    case ASK_CANCEL:
        desk_finish_cancel(desk, ask);
        return;
    case ASK_GRAPHS:
        desk_list_graphs(desk, ask);
        return;
    case ASK_GRAPH:
        desk_graph_show(desk, ask);
        return;
    case ASK_ESTIMATE:
        desk_estimate(desk, ask);
        return;
    case ASK_DELETE_GRAPH:
        desk_graph_delete(desk, ask);
        return;
    case ASK_RESULT:
        desk_result_ask(desk, ask);
        return;
    }
    CHECK(false); /* an ask of no kind */
}

/* Once the drain has been told there must be nothing under way again: what would change something
 * is refused, the rest is answered from memory. */
static bool is_change(const struct ask *ask)
{
    return ask->kind == ASK_SUBMIT || ask->kind == ASK_STORE_GRAPH || ask->kind == ASK_CANCEL ||
           ask->kind == ASK_DELETE_GRAPH;
}

static void deliver_ask(struct message *message)
{
    struct ask *ask = (struct ask *)message;
    struct desk *desk = ask->desk;
    if (desk->drained_told && is_change(ask)) {
        desk_answer_status(ask, STATUS_DRAINING, "The service is shutting down.");
        return;
    }
    answer_ask(desk, ask);
    desk_count(desk);
}

void desk_post(struct desk *desk, struct ask *ask)
{
    atomic_fetch_add(&desk->asks_open, 1);
    ask->desk = desk;
    ask->tenant = ask->tenant != NULL ? ask->tenant : desk->nobody;
    ask->message.deliver = deliver_ask;
    mailbox_post(desk->mailbox, &ask->message);
}

unsigned desk_asks_open(const struct desk *desk)
{
    return atomic_load(&desk->asks_open);
}

/* Sends coalesce, so one call may stand for many messages. */
static void deliver_all(uv_async_t *wake)
{
    struct desk *desk = wake->data;
    struct message *message;
    while ((message = mailbox_take(desk->mailbox)) != NULL) {
        message->deliver(message);
    }
}

static void wake_loop(void *context)
{
    CHECK(uv_async_send(context) == 0);
}

static void publish_gauges(const struct desk *desk)
{
    uint32_t running = 0;
    uint32_t workers = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        running += desk->workers[i]->load.count;
    }
    for (uint32_t i = 0; i < desk->devices.count; i++) {
        workers += atomic_load(&desk->devices.health[i]->state) == WORKER_READY;
    }
    metrics_set(METRIC_JOBS_QUEUED, desk->queue.count);
    metrics_set(METRIC_JOBS_RUNNING, running);
    metrics_set(METRIC_WORKERS, workers);
    metrics_set(METRIC_QUEUE_LIMIT, desk->config->queue_limit);
    metrics_set(METRIC_READY, atomic_load(&desk->admission.ready));
    metrics_set(METRIC_DRAINING, atomic_load(&desk->admission.draining));
}

void desk_count(struct desk *desk)
{
    uint32_t taken = desk->queue.count + desk->reserved;
    uint32_t limit = desk->config->queue_limit;
    double workers = desk->worker_count > 0 ? desk->worker_count : 1;
    desk_room_count(desk);
    double guess_s = ceil(desk->typical_solve_s / workers);
    atomic_store(&desk->admission.queue_free, taken < limit ? limit - taken : 0);
    atomic_store(&desk->admission.retry_after_s,
                 guess_s < 1 ? 1U : (guess_s > 60 ? 60U : (unsigned)guess_s));
    publish_gauges(desk);
}

void desk_tell_lost(struct desk *desk, enum status why)
{
    if (!desk->is_lost) {
        desk->is_lost = true;
        if (desk->lost != NULL) {
            desk->lost(desk->lost_context, why);
        }
    }
}

const struct admission *desk_admission(const struct desk *desk)
{
    return &desk->admission;
}

const struct device_list *desk_devices(const struct desk *desk)
{
    return &desk->devices;
}

bool desk_has_worker(const struct desk *desk)
{
    bool ready = false;
    for (uint32_t i = 0; i < desk->devices.count; i++) {
        ready |= atomic_load(&desk->devices.health[i]->state) == WORKER_READY;
    }
    return ready;
}

void desk_on_lost(struct desk *desk, void (*lost)(void *context, enum status why), void *context)
{
    desk->lost = lost;
    desk->lost_context = context;
}

/* The handles need no memory of their own: once initialised they stay until desk_destroy. */
static enum status open_handles(struct desk *desk)
{
    if (uv_async_init(desk->loop, &desk->wake, deliver_all) != 0) {
        return STATUS_NO_MEMORY;
    }
    uv_timer_init(desk->loop, &desk->alarm);
    uv_timer_init(desk->loop, &desk->drain_alarm);
    uv_timer_init(desk->loop, &desk->watch_tick);
    uv_timer_init(desk->loop, &desk->room_tick);
    desk->wake.data = desk;
    desk->alarm.data = desk;
    desk->drain_alarm.data = desk;
    desk->watch_tick.data = desk;
    desk->room_tick.data = desk;
    desk->handles_open = 5;
    return desk_leave_open(desk);
}

static enum status open_tables(struct desk *desk)
{
    enum status status = open_handles(desk);
    if (status == STATUS_OK) {
        status = mailbox_create(wake_loop, &desk->wake, &desk->mailbox);
    }
    if (status == STATUS_OK) {
        status = job_table_create(&desk->jobs);
    }
    if (status == STATUS_OK) {
        status = graph_table_create(&desk->graphs);
    }
    if (status == STATUS_OK) {
        status = tenant_table_create(&desk->tenants);
    }
    if (status == STATUS_OK) {
        status = desk_tenant(desk, "", &desk->nobody);
    }
    return status;
}

static enum status open_desk(struct desk *desk, struct problem *reterr)
{
    enum status status = open_tables(desk);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "There is not enough memory to start.");
    }
    status = desk_restore(desk, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    status = store_start(desk->store);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "The disk threads cannot be started.");
    }
    status = desk_open_workers(desk, reterr);
    if (status == STATUS_OK) {
        desk_restore_queue(desk);
        desk_count(desk);
    }
    return status;
}

/* Each result is an open file; the others are connections and the process's own. */
static uint32_t find_result_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return UINT32_MAX;
    }
    const rlim_t most =
        files.rlim_cur > FEW_FILES ? files.rlim_cur - FEW_FILES / 2 : files.rlim_cur / 4 + 1;
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

enum status desk_create(uv_loop_t *loop, const struct config *config, struct store *store,
                        struct result_table *table, struct desk **ret_desk, struct problem *reterr)
{
    struct desk *desk = calloc(1, sizeof(*desk));
    if (desk == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to start.");
    }
    desk->loop = loop;
    desk->config = config;
    desk->store = store;
    desk->results = table;
    desk->result_limit = find_result_limit();
    enum status status = open_desk(desk, reterr);
    if (status != STATUS_OK) {
        desk_destroy(desk);
        return status;
    }
    *ret_desk = desk;
    return STATUS_OK;
}

static void free_desk(struct desk *desk)
{
    mailbox_destroy(desk->mailbox);
    job_table_destroy(desk->jobs);
    graph_table_destroy(desk->graphs);
    tenant_table_destroy(desk->tenants);
    desk_leave_close(desk);
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        free(desk->workers[i]);
    }
    free(desk);
}

static void handle_closed(uv_handle_t *handle)
{
    struct desk *desk = handle->data;
    if (--desk->handles_open == 0) {
        free_desk(desk);
    }
}

/* Changes borrow memory of the desk until the disk threads have sent them home. */
static void wait_for_changes(struct desk *desk)
{
    while (desk->changes > 0) {
        struct message *message = mailbox_wait(desk->mailbox);
        message->deliver(message);
    }
    deliver_all(&desk->wake);
}

void desk_destroy(struct desk *desk)
{
    if (desk == NULL) {
        return;
    }
    CHECK(desk->submissions == 0 && desk->looks == 0);
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        CHECK(desk->workers[i]->load.count == 0);
        worker_dismiss(desk->workers[i]->worker);
    }
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        worker_stop(desk->workers[i]->worker);
        desk->workers[i]->worker = NULL;
    }
    if (desk->handles_open == 0) {
        free_desk(desk);
        return;
    }
    if (desk->mailbox != NULL) {
        desk->drained_told = true;
        desk_wait_end(desk);
        desk_watch_end(desk);
        wait_for_changes(desk);
    }
    uv_close((uv_handle_t *)&desk->wake, handle_closed);
    uv_close((uv_handle_t *)&desk->alarm, handle_closed);
    uv_close((uv_handle_t *)&desk->drain_alarm, handle_closed);
    uv_close((uv_handle_t *)&desk->watch_tick, handle_closed);
    uv_close((uv_handle_t *)&desk->room_tick, handle_closed);
    if (desk->leave_epoll > 0) {
        uv_close((uv_handle_t *)&desk->leaving, handle_closed);
    }
}
