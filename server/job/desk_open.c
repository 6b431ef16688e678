#include "server/job/desk_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0

static void deliver_opening(struct message *message)
{
    struct worker_opening *opening = (struct worker_opening *)message;
    struct desk_worker *seat = opening->context;
    /* A worker that is stopped may have told of a new process of its. */
    if (seat->worker == NULL) {
        return;
    }
    worker_health_told(worker_health_of(seat->worker));
    if (!seat->opened) {
        seat->opened = true;
        seat->desk->opening_count++;
    } else {
        desk_dispatch(seat->desk);
    }
}

static enum status start_worker(struct desk *desk, bool gpu, uint32_t gpu_index)
{
    struct desk_worker *seat = calloc(1, sizeof(*seat));
    if (seat == NULL) {
        return STATUS_NO_MEMORY;
    }
    seat->desk = desk;
    seat->opening.message.deliver = deliver_opening;
    seat->opening.context = seat;
    struct worker_config config = {
        .solver = &desk->config->solver,
        .gpu = gpu,
        .gpu_index = gpu_index,
        .isolation = desk->config->isolation,
        .stall_s = desk->config->stall_s,
        .sample_rows = desk->config->sample_rows,
        .confined = desk->config->confinement != CONFINEMENT_OFF,
        .graph_folder = store_graph_folder(desk->store),
        .result_folder = store_result_folder(desk->store),
        .home = desk->mailbox,
        .finished = desk_dispatch_finished,
        .opening = &seat->opening,
    };
    enum status status = worker_start(&config, &seat->worker);
    if (status != STATUS_OK) {
        free(seat);
        return status;
    }
    desk->workers[desk->worker_count++] = seat;
    return STATUS_OK;
}

/* The loop does not run yet, so what comes is delivered here: openings. */
static void wait_for_openings(struct desk *desk)
{
    while (desk->opening_count < desk->worker_count) {
        struct message *message = mailbox_wait(desk->mailbox);
        message->deliver(message);
    }
}

static void log_opening(const struct worker_opening *opening)
{
    if (opening->facts.status == STATUS_OK) {
        log_write(LOG_INFO, "device_opened", LOG_TEXT("solver", opening->facts.device.solver),
                  LOG_TEXT("device", opening->facts.device.name),
                  LOG_TEXT("detail", opening->facts.device.detail),
                  LOG_NUMBER("memory_bytes", opening->facts.device.memory_bytes),
                  LOG_NUMBER("units", opening->facts.device.units));
    } else {
        log_write(opening->facts.status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR,
                  "device_not_opened", LOG_TEXT("code", status_info(opening->facts.status)->code),
                  LOG_TEXT("detail", opening->facts.problem.detail));
    }
}

/* Workers without a solver are let go; the others close ranks. None has work yet. */
static void drop_unopened(struct desk *desk, struct problem *ret_problem)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        struct desk_worker *seat = desk->workers[i];
        log_opening(&seat->opening);
        if (seat->opening.facts.status != STATUS_OK) {
            *ret_problem = seat->opening.facts.problem;
            worker_stop(seat->worker);
            free(seat);
        } else {
            desk->workers[kept++] = seat;
        }
    }
    desk->worker_count = kept;
    desk->opening_count = kept;
}

/* The first one tells how many there are: who asks for that has opened the driver, which is not for
 * the daemon to do where its workers are processes. */
static enum status open_gpus(struct desk *desk, struct problem *ret_problem)
{
    enum status status = start_worker(desk, true, 0);
    wait_for_openings(desk);
    const uint32_t count = status == STATUS_OK ? desk->workers[0]->opening.facts.gpu_count : 0;
    for (uint32_t i = 1; i < count && i < DEVICE_LIMIT && status == STATUS_OK; i++) {
        status = start_worker(desk, true, i);
    }
    wait_for_openings(desk);
    drop_unopened(desk, ret_problem);
    return status;
}

static enum status open_cpu(struct desk *desk, struct problem *reterr)
{
    struct problem problem = {0};
    enum status status = start_worker(desk, false, 0);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "The solver thread cannot be started.");
    }
    wait_for_openings(desk);
    drop_unopened(desk, &problem);
    if (desk->worker_count == 0) {
        *reterr = problem;
        return problem.status;
    }
    return STATUS_OK;
}

static enum status open_by_choice(struct desk *desk, struct problem *reterr)
{
    char *reason = desk->devices.gpu_reason;
    enum solver_choice choice = desk->config->solver.choice;
    if (choice == SOLVER_CPU) {
        snprintf(reason, SOLVER_REASON_SIZE, "The configuration asks for the CPU solver.");
        return open_cpu(desk, reterr);
    }
    struct problem problem = {0};
    enum status status = open_gpus(desk, &problem);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "A solver thread cannot be started.");
    }
    if (desk->worker_count > 0) {
        reason[0] = '\0';
        return STATUS_OK;
    }
    snprintf(reason, SOLVER_REASON_SIZE, "%.*s", SOLVER_REASON_SIZE - 1, problem.detail);
    if (choice == SOLVER_GPU) {
        return problem_set(reterr, STATUS_NO_DEVICE, "No GPU can be used: %s", reason);
    }
    return open_cpu(desk, reterr);
}

/* ---- How large a graph may be ---- */

/* The device that holds the largest graph of a kind. */
static const struct worker_opening *largest(const struct desk *desk, enum kind kind)
{
    const struct worker_opening *best = &desk->workers[0]->opening;
    for (uint32_t i = 1; i < desk->worker_count; i++) {
        const struct worker_opening *opening = &desk->workers[i]->opening;
        if (opening->facts.vertex_limit[kind] > best->facts.vertex_limit[kind]) {
            best = opening;
        }
    }
    return best;
}

/* By the size of the disk, not by what is free on it: that changes, so each job is judged by it
 * when it comes. */
static uint32_t disk_limit(uint64_t disk_bytes, enum kind kind)
{
    double n = floor(sqrt((double)disk_bytes / (double)kind_size(kind)));
    return n < (double)(NO_VERTEX - 1) ? (uint32_t)n : NO_VERTEX - 1;
}

/* reason: of the smallest of the three. */
static uint32_t limit_of_kind(const struct desk *desk, enum kind kind, char *reason, size_t size)
{
    const struct worker_opening *opening = largest(desk, kind);
    bool gpu = strcmp(opening->facts.device.solver, "gpu") == 0;
    uint64_t disk_bytes = store_disk_bytes(desk->store);
    uint32_t limit = opening->facts.vertex_limit[kind];
    snprintf(reason, size, "%s memory of %.1f GiB", gpu ? opening->facts.device.name : "host",
             (double)opening->facts.device.memory_bytes / GIB);
    if (disk_limit(disk_bytes, kind) < limit) {
        limit = disk_limit(disk_bytes, kind);
        snprintf(reason, size, "disk of %.1f GiB", (double)disk_bytes / GIB);
    }
    if (desk->config->vertex_limit > 0 && desk->config->vertex_limit <= limit) {
        limit = desk->config->vertex_limit;
        snprintf(reason, size, "graph.vertex_limit");
    }
    return limit;
}

static void set_limits(struct desk *desk)
{
    struct admission *admission = &desk->admission;
    char reason[sizeof(admission->limit_reason)];
    for (enum kind kind = KIND_F8; kind > KIND_AUTO; kind--) {
        desk->vertex_limit[kind] = limit_of_kind(desk, kind, reason, sizeof(reason));
        if (kind == KIND_I4) {
            memcpy(admission->limit_reason, reason, sizeof(reason));
        }
    }
    admission->vertex_limit = desk->vertex_limit[KIND_I4];
    admission->edge_limit = desk->config->edge_limit;
}

enum status desk_open_workers(struct desk *desk, struct problem *reterr)
{
    enum status status = open_by_choice(desk, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        desk->devices.devices[i] = desk->workers[i]->opening.facts.device;
        desk->devices.health[i] = worker_health_of(desk->workers[i]->worker);
    }
    desk->devices.count = desk->worker_count;
    set_limits(desk);
    log_write(LOG_INFO, "workers_open", LOG_NUMBER("workers", desk->worker_count),
              LOG_TEXT("gpu_reason", desk->devices.gpu_reason),
              LOG_NUMBER("vertex_limit", desk->admission.vertex_limit),
              LOG_TEXT("limit_reason", desk->admission.limit_reason));
    atomic_store(&desk->admission.ready, true);
    desk_count(desk);
    return STATUS_OK;
}
