#include "server/scheduler/scheduler_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Graphs that queued jobs keep in memory, so that a solve need not read them again. */
#define MEMORY_LIMIT_BYTES ((uint64_t)256 << 20)
/* The system does not report that a full disk has room again, so it is looked at. */
#define LOOK_MS 1000
/* With less than this free the catalogue itself could not go on. */
#define LEAST_FREE_BYTES (UINT64_C(1) << 20)
#define RETRY_AFTER_LIMIT_S 60.0
/* Bytes of a road network's hierarchy for each vertex and edge: what is reserved for one. */
#define HIERARCHY_STEP_BYTES 32

/* ---- Tenants ---- */

/* Few, and looked for only when keys are read and at the start. The newest is the first. */
enum status capacity_find_tenant(struct tenant **tenants, const char *name,
                                 struct tenant **ret_tenant)
{
    const size_t size = strlen(name) + 1;
    struct tenant *tenant = *tenants;
    CHECK(size <= TENANT_NAME_SIZE);
    while (tenant != NULL && strcmp(tenant->name, name) != 0) {
        tenant = tenant->next;
    }
    if (tenant == NULL) {
        tenant = calloc(1, sizeof(*tenant));
        if (tenant == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(tenant->name, name, size);
        tenant->number = *tenants != NULL ? (*tenants)->number + 1 : 0;
        tenant->next = *tenants;
        *tenants = tenant;
    }
    *ret_tenant = tenant;
    return STATUS_OK;
}

void capacity_free_tenants(struct tenant *tenants)
{
    while (tenants != NULL) {
        struct tenant *next = tenants->next;
        free(tenants);
        tenants = next;
    }
}

enum status capacity_check_queue(const struct admission *admission, uint32_t free_places,
                                 uint32_t limit, struct tenant *tenant, const struct quota *quota,
                                 struct problem *reterr)
{
    const unsigned waiting =
        tenant != NULL ? atomic_load(&tenant->share.count) + atomic_load(&tenant->reserved_places)
                       : 0;
    if (free_places == 0) {
        problem_set(reterr, STATUS_QUEUE_FULL, "The queue is full: %u jobs wait.", limit);
        problem_limit(reterr, limit, limit);
        problem_hint(reterr, "Come back after the seconds in Retry-After.");
        return STATUS_QUEUE_FULL;
    }
    if (waiting >= free_places && atomic_load(&admission->tenant_count) > 1) {
        problem_set(reterr, STATUS_QUEUE_FULL,
                    "%u places of the queue are free, and kept for tenants with fewer jobs in it "
                    "than that; this one has %u.",
                    free_places, waiting);
        problem_limit(reterr, free_places, waiting);
        problem_hint(reterr, "Come back after the seconds in Retry-After, or cancel a job.");
        return STATUS_QUEUE_FULL;
    }
    if (quota->waiting_jobs == 0 || waiting < quota->waiting_jobs) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_JOB_QUOTA, "As many jobs wait as this key allows.");
    problem_limit(reterr, quota->waiting_jobs, waiting);
    problem_hint(reterr, "Come back after the seconds in Retry-After, or cancel a job.");
    return STATUS_JOB_QUOTA;
}

enum status capacity_check_bytes(struct tenant *tenant, const struct quota *quota,
                                 uint64_t more_bytes, struct problem *reterr)
{
    uint64_t bytes;
    if (quota->stored_bytes == 0) {
        return STATUS_OK;
    }
    bytes = atomic_load(&tenant->stored_bytes) + atomic_load(&tenant->reserved_bytes);
    if (__builtin_add_overflow(bytes, more_bytes, &bytes)) {
        bytes = UINT64_MAX;
    }
    if (bytes <= quota->stored_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_STORAGE_QUOTA,
                "Graphs and results would take more bytes than this key allows.");
    problem_limit(reterr, (double)quota->stored_bytes, (double)bytes);
    problem_hint(reterr, "Delete graphs that are not needed any more.");
    return STATUS_STORAGE_QUOTA;
}

unsigned capacity_retry_after_s(enum status status)
{
    if (status == STATUS_UPLOAD_MEMORY) {
        return 2; /* about as long as a large graph takes to come in */
    }
    /* Deletions make room, and nobody knows when. */
    return status == STATUS_STORAGE_QUOTA || status == STATUS_DISK_FULL ? 60 : 0;
}

/* ---- Sizes ---- */

uint64_t capacity_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type)
{
    const uint64_t weight_bytes = type == WEIGHT_REAL ? sizeof(double) : sizeof(int32_t);
    return ((uint64_t)vertex_count + 1) * sizeof(uint64_t) +
           edge_count * (sizeof(uint32_t) + weight_bytes);
}

uint64_t capacity_result_bytes(enum result_form form, uint32_t vertex_count, uint64_t edge_count,
                               enum kind kind)
{
    size_t bytes;
    if (form == RESULT_FORM_HIERARCHY) {
        return (vertex_count + edge_count + 1) * HIERARCHY_STEP_BYTES;
    }
    return result_file_size(vertex_count, kind, &bytes) == STATUS_OK ? bytes : INT64_MAX;
}

const struct scheduler_worker *capacity_largest_worker(const struct scheduler *scheduler,
                                                       enum kind kind)
{
    const struct scheduler_worker *best = scheduler->workers[0];
    for (uint32_t i = 1; i < scheduler->worker_count; i++) {
        const struct scheduler_worker *slot = scheduler->workers[i];
        if (slot->opening.facts.vertex_limit[kind] > best->opening.facts.vertex_limit[kind]) {
            best = slot;
        }
    }
    return best;
}

/* ---- Amounts held ---- */

void capacity_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity more)
{
    struct capacity_ledger *ledger = &scheduler->capacity;
    held->queue_places += more.queue_places;
    held->disk_bytes += more.disk_bytes;
    held->memory_bytes += more.memory_bytes;
    ledger->reserved.queue_places += more.queue_places;
    ledger->reserved.disk_bytes += more.disk_bytes;
    ledger->reserved.memory_bytes += more.memory_bytes;
    atomic_fetch_add(&tenant->reserved_places, more.queue_places);
    atomic_fetch_add(&tenant->reserved_bytes, more.disk_bytes);
    if (held->disk_bytes > ledger->largest_disk_bytes) {
        ledger->largest_disk_bytes = held->disk_bytes;
    }
}

void capacity_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity less)
{
    struct capacity_ledger *ledger = &scheduler->capacity;
    held->queue_places -= less.queue_places;
    held->disk_bytes -= less.disk_bytes;
    held->memory_bytes -= less.memory_bytes;
    ledger->reserved.queue_places -= less.queue_places;
    ledger->reserved.disk_bytes -= less.disk_bytes;
    ledger->reserved.memory_bytes -= less.memory_bytes;
    atomic_fetch_sub(&tenant->reserved_places, less.queue_places);
    atomic_fetch_sub(&tenant->reserved_bytes, less.disk_bytes);
    if (ledger->reserved.disk_bytes == 0) {
        ledger->largest_disk_bytes = 0;
    }
}

void capacity_reserve_result(struct scheduler *scheduler, struct job *job, uint64_t edge_count)
{
    const uint64_t bytes =
        capacity_result_bytes(job->report.result.form, job->vertex_count, edge_count, job->kind);
    capacity_reserve(scheduler, job->tenant, &job->held, (struct capacity){.disk_bytes = bytes});
}

uint32_t capacity_free_places(const struct scheduler *scheduler)
{
    const uint32_t limit = scheduler->config->queue_limit;
    const uint32_t taken = scheduler->queue.count + scheduler->capacity.reserved.queue_places;
    return taken < limit ? limit - taken : 0;
}

/* ---- Graphs in memory ---- */

bool capacity_find_memory(const struct scheduler *scheduler, uint64_t graph_bytes)
{
    const struct capacity *reserved = &scheduler->capacity.reserved;
    return graph_bytes <= MEMORY_LIMIT_BYTES - reserved->memory_bytes;
}

/* ---- The disk ---- */

/* Bytes reserved that will be written at most. The file of a running job that is placed is no
 * longer free on the disk, and no longer to come; assume_placed: as if all that run were. Under a
 * budget, older results make room as newer ones come. */
static uint64_t bytes_to_come(const struct scheduler *scheduler, bool assume_placed)
{
    const uint64_t budget_bytes = scheduler->config->result_budget_bytes;
    const struct capacity_ledger *ledger = &scheduler->capacity;
    uint64_t to_come = ledger->reserved.disk_bytes;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const struct job *job = scheduler->workers[i]->job;
        if (job != NULL && (assume_placed || atomic_load(&job->signal->placed))) {
            to_come -= job->held.disk_bytes;
        }
    }
    if (budget_bytes == 0) {
        return to_come;
    }
    const uint64_t left =
        budget_bytes > ledger->result_bytes ? budget_bytes - ledger->result_bytes : 0;
    const uint64_t most = left + ledger->largest_disk_bytes;
    return to_come < most ? to_come : most;
}

static enum status check_vertices(const struct scheduler *scheduler, const struct quota *quota,
                                  enum result_form form, uint32_t vertex_count, enum kind kind,
                                  struct problem *reterr)
{
    const bool is_matrix = form == RESULT_FORM_MATRIX;
    const uint32_t device_limit =
        is_matrix ? scheduler->vertex_limit[kind] : scheduler->admission.hierarchy_vertex_limit;
    const bool by_quota = quota->vertex_limit > 0 && quota->vertex_limit < device_limit;
    const uint32_t limit = by_quota ? quota->vertex_limit : device_limit;
    if (vertex_count <= limit) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE,
                "%u vertices in kind %s are more than this service can hold%s.", vertex_count,
                kind_name(kind), is_matrix ? " as a matrix" : "");
    problem_limit(reterr, limit, vertex_count);
    problem_hint(reterr, "The limit comes from %s.",
                 by_quota    ? "this key"
                 : is_matrix ? scheduler->admission.limit_reason
                             : scheduler->admission.hierarchy_limit_reason);
    return STATUS_TOO_LARGE;
}

static enum status check_disk(const struct scheduler *scheduler, uint32_t vertex_count,
                              uint64_t result_bytes, uint64_t graph_bytes, struct problem *reterr)
{
    const uint64_t free_bytes = store_free_bytes(scheduler->store);
    const uint64_t kept = scheduler->config->disk_reserve_bytes + bytes_to_come(scheduler, false);
    const uint64_t room = free_bytes > kept ? free_bytes - kept : 0;
    const uint64_t bytes = result_bytes + graph_bytes;
    if (!scheduler->capacity.is_full && bytes <= room) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_DISK_FULL,
                "There is no room on the disk for the result of %u vertices; nothing was kept.",
                vertex_count);
    problem_limit(reterr, (double)room, (double)bytes);
    problem_hint(reterr, "Delete graphs, or ask again when there is room.");
    return STATUS_DISK_FULL;
}

enum status capacity_choose_form(const struct scheduler *scheduler, const struct quota *quota,
                                 const struct graph_row *row, enum kind kind, uint64_t graph_bytes,
                                 struct result_summary *result, struct problem *reterr)
{
    const uint32_t n = row->vertex_count;
    result->reason = RESULT_REASON_ASKED;
    if (result->form == RESULT_FORM_HIERARCHY && kind == KIND_U2) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "A hierarchy has no kind u2.");
        problem_hint(reterr, "Ask for kind=i4, or for result=matrix.");
        return STATUS_BAD_PARAMETER;
    }
    if (result->form == RESULT_FORM_AUTO) {
        const bool fits = n <= scheduler->vertex_limit[kind] || kind == KIND_U2;
        result->form = fits ? RESULT_FORM_MATRIX : RESULT_FORM_HIERARCHY;
        result->reason = fits ? RESULT_REASON_FITS : RESULT_REASON_VERTICES;
    }
    const uint64_t bytes = capacity_result_bytes(result->form, n, row->edge_count, kind);
    const enum status status = check_vertices(scheduler, quota, result->form, n, kind, reterr);
    return status == STATUS_OK ? check_disk(scheduler, n, bytes, graph_bytes, reterr) : status;
}

static void room_ticked(uv_timer_t *tick)
{
    struct scheduler *scheduler = tick->data;
    if (scheduler->capacity.is_full) {
        /* The next job must find its room, or it would come back at once. */
        const uint64_t free_bytes = store_free_bytes(scheduler->store);
        const uint64_t reserve_bytes = scheduler->config->disk_reserve_bytes;
        const struct job *first = job_queue_first(&scheduler->queue);
        if (free_bytes < (reserve_bytes > LEAST_FREE_BYTES ? reserve_bytes : LEAST_FREE_BYTES) ||
            (first != NULL && first->held.disk_bytes > free_bytes)) {
            return;
        }
        scheduler->capacity.is_full = false;
        atomic_store(&scheduler->admission.full, false);
        log_write(LOG_INFO, "disk_has_room", LOG_NUMBER("free_bytes", (double)free_bytes));
    }
    uv_timer_stop(tick);
    scheduler->capacity.is_paused = false;
    scheduler->marks.ends_unstored = true;
    scheduler_wake(scheduler);
}

void capacity_pause(struct scheduler *scheduler)
{
    if (!scheduler->capacity.is_paused && !scheduler->drained_told) {
        scheduler->capacity.is_paused = true;
        uv_timer_start(&scheduler->room_tick, room_ticked, LOOK_MS, LOOK_MS);
    }
}

void capacity_note_full(struct scheduler *scheduler)
{
    if (!scheduler->capacity.is_full) {
        scheduler->capacity.is_full = true;
        scheduler->marks.unparked = true; /* changes that wait are refused */
        atomic_store(&scheduler->admission.full, true);
        log_write(LOG_ERROR, "disk_full",
                  LOG_NUMBER("free_bytes", (double)store_free_bytes(scheduler->store)));
    }
    capacity_pause(scheduler);
}

/* The header line of an upload is judged by these some time later: what fails there has to fail in
 * the scheduler too, which looks again. */
void capacity_publish(struct scheduler *scheduler)
{
    struct admission *admission = &scheduler->admission;
    const uint64_t reserve_bytes = scheduler->config->disk_reserve_bytes;
    const uint32_t count = scheduler->worker_count - (scheduler->group != NULL ? 1 : 0);
    const double workers = count > 0 ? count : 1;
    const double guess_s =
        fmin(fmax(ceil(scheduler->typical_solve_s / workers), 1), RETRY_AFTER_LIMIT_S);
    atomic_store(&admission->promised_bytes, reserve_bytes + bytes_to_come(scheduler, true));
    atomic_store(&admission->queue_free, capacity_free_places(scheduler));
    atomic_store(&admission->retry_after_s, (unsigned)guess_s);
}
