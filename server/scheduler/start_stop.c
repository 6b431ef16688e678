#include "server/scheduler/start_stop.h"

#include "server/scheduler/commit.h"
#include "server/scheduler/dispatch.h"
#include "server/scheduler/restore.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/waiters.h"
#include "server/solver/host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HIERARCHY_VERTEX_BYTES 1024
#define GIB 1073741824.0
/* If the process may open at most this number of files, results may use a quarter of them, else at
 * least half of them. Connections and the process itself need the others. */
#define FEW_FILES 4096

static enum status start_worker(struct scheduler *scheduler, bool gpu, uint32_t gpu_index,
                                uint32_t gpu_members)
{
    struct scheduler_worker *slot = &scheduler->workers[scheduler->worker_count];
    const bool keeps_plans = scheduler->config->solver.plans != SOLVER_PLANS_NONE;
    const bool is_process = scheduler->config->isolation == WORKER_PROCESS;
    struct worker_config config = {
        .setup = {.solver = scheduler->config->solver,
                  .gpu = gpu,
                  .gpu_index = gpu_index,
                  .gpu_members = gpu_members,
                  .sharing = is_process && scheduler->config->solver.group == SOLVER_GROUP_AUTO,
                  .sandboxed = scheduler->config->confinement != CONFINEMENT_OFF &&
                               scheduler->launcher == NULL},
        .launcher = scheduler->launcher,
        .isolation = scheduler->config->isolation,
        .stall_s = scheduler->config->stall_s,
        .folders = {store_folder(scheduler->store, STORE_GRAPHS),
                    store_folder(scheduler->store, STORE_RESULTS),
                    store_folder(scheduler->store, STORE_ORDERS),
                    keeps_plans ? scheduler->config->plan_budget_bytes : 0},
        .home = scheduler->mailbox,
        .finished = dispatch_receive_task,
    };
    *slot = (struct scheduler_worker){.scheduler = scheduler};
    STATUS_TRY(worker_start(&config, &slot->worker));
    scheduler->worker_count++;
    return STATUS_OK;
}

static void wait_for_openings(struct scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        struct scheduler_worker *slot = &scheduler->workers[i];
        slot->facts = slot->facts != NULL ? slot->facts : worker_wait_opened(slot->worker);
    }
}

/* Removes the workers that could not open a solver. No worker has a task yet. */
static void drop_unopened(struct scheduler *scheduler, struct problem *ret_problem)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        struct scheduler_worker *slot = &scheduler->workers[i];
        const struct worker_facts *facts = slot->facts;
        if (facts->status == STATUS_OK) {
            scheduler->workers[kept++] = *slot;
            memcpy(scheduler->queue.pace_s, facts->pace_s, sizeof(facts->pace_s));
            log_write(LOG_INFO, "device_opened", LOG_TEXT("solver", facts->device.solver),
                      LOG_TEXT("device", facts->device.name),
                      LOG_TEXT("detail", facts->device.detail),
                      LOG_NUMBER("memory_bytes", facts->device.memory_bytes),
                      LOG_NUMBER("units", facts->device.units));
            continue;
        }
        log_write(facts->status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR, "device_not_opened",
                  LOG_TEXT("code", status_info(facts->status)->code),
                  LOG_TEXT("detail", facts->problem.detail));
        *ret_problem = facts->problem;
        worker_stop(slot->worker);
    }
    scheduler->worker_count = kept;
}

/* Opens a worker for each GPU, and one for the group of all GPUs. The first worker reports the
 * number of GPUs, because counting them opens the driver, which the daemon avoids if its workers
 * are processes. The group is opened last and uses the memory that the other workers leave. */
static enum status open_gpus(struct scheduler *scheduler, struct problem *ret_problem)
{
    const enum solver_group group = scheduler->config->solver.group;
    enum status status = start_worker(scheduler, true, 0, group == SOLVER_GROUP_ALL ? 0 : 1);
    wait_for_openings(scheduler);
    uint32_t count = status == STATUS_OK ? scheduler->workers[0].facts->gpu_count : 0;
    count = group == SOLVER_GROUP_ALL ? 1 : count;
    for (uint32_t i = 1; i < count && i < SOLVE_DEVICES_MAX && status == STATUS_OK; i++) {
        status = start_worker(scheduler, true, i, 1);
    }
    wait_for_openings(scheduler);
    if (status == STATUS_OK && group == SOLVER_GROUP_AUTO && count > 1) {
        status = start_worker(scheduler, true, 0, 0);
    }
    wait_for_openings(scheduler);
    drop_unopened(scheduler, ret_problem);
    const uint32_t kept = scheduler->worker_count;
    if (kept > 1 && scheduler->workers[kept - 1].facts->device.members > 1) {
        scheduler->group = &scheduler->workers[kept - 1];
    }
    return status;
}

static enum status open_cpu(struct scheduler *scheduler, struct problem *reterr)
{
    STATUS_TRY(problem_explain(reterr, start_worker(scheduler, false, 0, 1),
                               "The solver thread cannot be started."));
    wait_for_openings(scheduler);
    drop_unopened(scheduler, reterr);
    return scheduler->worker_count > 0 ? STATUS_OK : reterr->status;
}

static enum status open_by_choice(struct scheduler *scheduler, struct problem *reterr)
{
    char *reason = scheduler->devices.gpu_reason;
    enum solver_choice choice = scheduler->config->solver.choice;
    if (choice == SOLVER_CPU || scheduler->launcher != NULL) {
        snprintf(reason, SOLVER_REASON_SIZE, "The configuration selects %s.",
                 scheduler->launcher != NULL ? "a solver on MPI ranks" : "the CPU solver");
        return open_cpu(scheduler, reterr);
    }
    struct problem problem = {0};
    STATUS_TRY(problem_explain(reterr, open_gpus(scheduler, &problem),
                               "A solver thread cannot be started."));
    if (scheduler->worker_count > 0) {
        reason[0] = '\0';
        return STATUS_OK;
    }
    snprintf(reason, SOLVER_REASON_SIZE, "%.*s", SOLVER_REASON_SIZE - 1, problem.detail);
    if (choice == SOLVER_GPU) {
        return problem_set(reterr, STATUS_NO_DEVICE, "No GPU can be used: %s", reason);
    }
    return open_cpu(scheduler, reterr);
}

/* Returns the smaller of a limit by memory and graph.vertex_limit, with its reason. The space on
 * the disk is checked for each job. */
static uint32_t choose_limit(const struct scheduler *scheduler, uint32_t limit, const char *owner,
                             uint64_t memory_bytes, char reason[LIMIT_REASON_SIZE])
{
    const uint32_t asked = scheduler->config->vertex_limit;
    if (asked > 0 && asked <= limit) {
        snprintf(reason, LIMIT_REASON_SIZE, "graph.vertex_limit");
        return asked;
    }
    snprintf(reason, LIMIT_REASON_SIZE, "%s memory of %.1f GiB", owner, (double)memory_bytes / GIB);
    return limit;
}

static void set_limits(struct scheduler *scheduler)
{
    struct admission *admission = &scheduler->admission;
    const uint64_t memory_bytes = host_memory_total();
    /* The limit assumes the memory that planning a road network needs; others may need more. */
    const uint64_t most = memory_bytes > 0 ? memory_bytes / HIERARCHY_VERTEX_BYTES : NO_VERTEX;
    for (uint32_t cost = COST_COUNT - 1; cost >= KIND_I4;
         cost--) { /* i4 comes last, so that its reason remains */
        const struct worker_facts *facts = dispatch_largest_worker(scheduler, cost)->facts;
        const bool gpu = strcmp(facts->device.solver, "gpu") == 0;
        scheduler->vertex_limit[cost] =
            choose_limit(scheduler, facts->vertex_limit[cost], gpu ? facts->device.name : "host",
                         facts->device.memory_bytes, admission->limit_reason);
    }
    admission->vertex_limit = scheduler->vertex_limit[KIND_I4];
    admission->hierarchy_vertex_limit =
        choose_limit(scheduler, most < NO_VERTEX - 1 ? (uint32_t)most : NO_VERTEX - 1, "host",
                     memory_bytes, admission->hierarchy_limit_reason);
}

static enum status open_workers(struct scheduler *scheduler, struct problem *reterr)
{
    STATUS_TRY(open_by_choice(scheduler, reterr));
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        scheduler->devices.devices[i] = scheduler->workers[i].facts->device;
        scheduler->devices.health[i] = worker_health_of(scheduler->workers[i].worker);
    }
    scheduler->devices.count = scheduler->worker_count;
    set_limits(scheduler);
    log_write(LOG_INFO, "workers_ready", LOG_NUMBER("workers", scheduler->worker_count),
              LOG_TEXT("gpu_reason", scheduler->devices.gpu_reason),
              LOG_NUMBER("vertex_limit", scheduler->admission.vertex_limit),
              LOG_TEXT("limit_reason", scheduler->admission.limit_reason));
    return STATUS_OK;
}

static void wake_loop(void *context)
{
    CHECK(uv_async_send(context) == 0);
}

/* Opens the tables and the loop's handles, which stay open until scheduler_destroy. */
static enum status open_tables(struct scheduler *scheduler)
{
    uv_timer_t *const timers[] = {&scheduler->alarm, &scheduler->drain_alarm,
                                  &scheduler->watch_tick, &scheduler->room_tick};
    if (uv_async_init(scheduler->loop, &scheduler->wake, scheduler_turn) != 0) {
        return STATUS_NO_MEMORY;
    }
    scheduler->wake.data = scheduler;
    scheduler->handles_open = 1;
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(scheduler->loop, timers[i]);
        timers[i]->data = scheduler;
        scheduler->handles_open++;
    }
    STATUS_TRY(mailbox_create(wake_loop, &scheduler->wake, &scheduler->mailbox));
    return tenant_find(&scheduler->tenants, "", &scheduler->nobody);
}

static enum status open_scheduler(struct scheduler *scheduler, struct problem *reterr)
{
    if (open_tables(scheduler) != STATUS_OK || pool_start(scheduler) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to start.");
    }
    STATUS_TRY(restore_tables(scheduler, reterr));
    STATUS_TRY(problem_explain(reterr, store_start(scheduler->store),
                               "The disk threads cannot be started."));
    order_file_trim(store_folder(scheduler->store, STORE_ORDERS),
                    scheduler->config->plan_budget_bytes);
    STATUS_TRY(open_workers(scheduler, reterr));
    restore_queue(scheduler);
    scheduler_settle(scheduler);
    return STATUS_OK;
}

enum status scheduler_create(uv_loop_t *loop, const struct config *config, struct store *store,
                             struct result_table *table, const struct worker_launcher *launcher,
                             struct scheduler **ret_scheduler, struct problem *reterr)
{
    struct scheduler *scheduler = calloc(1, sizeof(*scheduler));
    if (scheduler == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to start.");
    }
    scheduler->loop = loop;
    STAILQ_INIT(&scheduler->parked);
    TAILQ_INIT(&scheduler->items);
    job_table_init(&scheduler->jobs);
    scheduler->config = config;
    scheduler->store = store;
    scheduler->results = table;
    scheduler->note_damage = scheduler_note_damaged_result;
    scheduler->launcher = launcher;
    /* Each result keeps a file open, so the limit on open files limits the number of results. */
    struct rlimit files = {.rlim_cur = RLIM_INFINITY};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    const rlim_t eighth = files.rlim_cur / 8;
    const rlim_t kept = eighth > FEW_FILES / 2 ? eighth : FEW_FILES / 2;
    const rlim_t most = files.rlim_cur > FEW_FILES ? files.rlim_cur - kept : files.rlim_cur / 4 + 1;
    scheduler->ledger.result_limit = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    scheduler->ledger.file_limit =
        files.rlim_cur < UINT32_MAX ? (uint32_t)(most + (files.rlim_cur - most) / 2) : UINT32_MAX;
    enum status status = open_scheduler(scheduler, reterr);
    if (status != STATUS_OK) {
        scheduler_destroy(scheduler);
        return status;
    }
    *ret_scheduler = scheduler;
    return STATUS_OK;
}

void scheduler_drain_faster(struct scheduler *scheduler)
{
    struct job *job;
    TAILQ_FOREACH(job, &scheduler->jobs.unfinished, in_list)
    {
        if (job->row.state == JOB_RUNNING) {
            job_stop(job, JOB_STOP_DRAIN);
        }
    }
}

static void drain_alarm_rang(uv_timer_t *alarm)
{
    scheduler_drain_faster(alarm->data);
}

void scheduler_drain(struct scheduler *scheduler, void (*drained)(void *context), void *context)
{
    scheduler->stage = SCHEDULER_DRAINS;
    scheduler->drained = drained;
    scheduler->drained_context = context;
    atomic_store(&scheduler->admission.draining, true);
    log_write(LOG_INFO, "draining", LOG_NUMBER("queued", scheduler->queue.count));
    scheduler->marks.unparked = true; /* resumes parked changes, so that they are refused */
    waiters_end(scheduler, false);
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        worker_hurry(scheduler->workers[i].worker);
    }
    uv_update_time(scheduler->loop);
    uv_timer_start(&scheduler->drain_alarm, drain_alarm_rang,
                   (uint64_t)scheduler->config->drain_s * 1000, 0);
    scheduler_wake(scheduler);
}

static void free_scheduler(struct scheduler *scheduler)
{
    mailbox_destroy(scheduler->mailbox);
    commit_destroy(scheduler->delivered);
    job_table_finish(&scheduler->jobs);
    graph_table_finish(&scheduler->graphs);
    tenant_free_all(scheduler->tenants);
    free(scheduler);
}

static void handle_closed(uv_handle_t *handle)
{
    struct scheduler *scheduler = handle->data;
    if (--scheduler->handles_open == 0) {
        free_scheduler(scheduler);
    }
}

void scheduler_destroy(struct scheduler *scheduler)
{
    if (scheduler == NULL) {
        return;
    }
    CHECK(scheduler->submissions == 0 && scheduler->changes == 0 && pool_is_idle(&scheduler->pool));
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        CHECK(scheduler->workers[i].job == NULL);
        worker_dismiss(scheduler->workers[i].worker);
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        worker_stop(scheduler->workers[i].worker);
        scheduler->workers[i].worker = NULL;
    }
    if (scheduler->handles_open == 0) {
        free_scheduler(scheduler);
        return;
    }
    if (scheduler->mailbox != NULL) {
        scheduler->stage = SCHEDULER_DRAINED;
        waiters_end(scheduler, false);
        waiters_end(scheduler, true);
        scheduler_deliver_messages(scheduler);
    }
    uv_close((uv_handle_t *)&scheduler->wake, handle_closed);
    uv_close((uv_handle_t *)&scheduler->alarm, handle_closed);
    uv_close((uv_handle_t *)&scheduler->drain_alarm, handle_closed);
    uv_close((uv_handle_t *)&scheduler->watch_tick, handle_closed);
    uv_close((uv_handle_t *)&scheduler->room_tick, handle_closed);
}
