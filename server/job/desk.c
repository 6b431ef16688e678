#include "server/job/desk_internal.h"

#include "proto/check.h"
#include "server/clock.h"

#include <math.h>
#include <stdlib.h>

void ask_finish(struct ask *ask)
{
    reader_destroy(ask->reader);
    free(ask->body);
    ask->reader = NULL;
    ask->body = NULL;
}

static void show_job(struct desk *desk, struct ask *ask)
{
    struct job *job = job_table_find(desk->jobs, ask->key);
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

void desk_count(struct desk *desk)
{
    uint32_t taken = desk->queue.count + desk->reserved;
    uint32_t limit = desk->config->queue_limit;
    double workers = desk->worker_count > 0 ? desk->worker_count : 1;
    double guess_s = ceil(desk->typical_solve_s / workers);
    atomic_store(&desk->admission.queue_free, taken < limit ? limit - taken : 0);
    atomic_store(&desk->admission.retry_after_s,
                 guess_s < 1 ? 1U : (guess_s > 60 ? 60U : (unsigned)guess_s));
}

const struct admission *desk_admission(const struct desk *desk)
{
    return &desk->admission;
}

const struct device_list *desk_devices(const struct desk *desk)
{
    return &desk->devices;
}

void desk_on_device_lost(struct desk *desk, void (*lost)(void *context), void *context)
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
    desk->wake.data = desk;
    desk->alarm.data = desk;
    desk->drain_alarm.data = desk;
    desk->watch_tick.data = desk;
    desk->handles_open = 4;
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
        worker_stop(desk->workers[i]->worker);
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
    if (desk->leave_epoll > 0) {
        uv_close((uv_handle_t *)&desk->leaving, handle_closed);
    }
}
