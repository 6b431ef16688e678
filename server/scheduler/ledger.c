#include "server/scheduler/ledger.h"

#include "server/scheduler/scheduler_internal.h"

#include <math.h>
#include <stdlib.h>

/* Interval of the checks of a full disk; the system does not report that space is free again. */
#define LOOK_MS 1000
/* Free disk space that the catalogue needs to keep working. */
#define LEAST_FREE_BYTES (UINT64_C(1) << 20)
#define RETRY_AFTER_LIMIT_S 60.0
/* Bytes reserved for a hierarchy per vertex and per edge: enough for a road network. */
#define HIERARCHY_STEP_BYTES 32

uint64_t ledger_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type)
{
    const uint64_t weight_bytes = type == WEIGHT_REAL ? sizeof(double) : sizeof(int32_t);
    return ((uint64_t)vertex_count + 1) * sizeof(uint64_t) +
           edge_count * (sizeof(uint32_t) + weight_bytes);
}

uint64_t ledger_result_bytes(enum result_form form, uint32_t vertex_count, uint64_t edge_count,
                             enum kind kind)
{
    size_t bytes;
    if (form == RESULT_FORM_HIERARCHY) {
        return (vertex_count + edge_count + 1) * HIERARCHY_STEP_BYTES;
    }
    return result_file_size(vertex_count, kind, &bytes) == STATUS_OK ? bytes : INT64_MAX;
}

void ledger_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity more)
{
    struct ledger *ledger = &scheduler->ledger;
    held->queue_places += more.queue_places;
    held->disk_bytes += more.disk_bytes;
    ledger->reserved.queue_places += more.queue_places;
    ledger->reserved.disk_bytes += more.disk_bytes;
    atomic_fetch_add(&tenant->reserved_places, more.queue_places);
    atomic_fetch_add(&tenant->reserved_bytes, more.disk_bytes);
    if (held->disk_bytes > ledger->largest_disk_bytes) {
        ledger->largest_disk_bytes = held->disk_bytes;
    }
}

void ledger_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity less)
{
    struct ledger *ledger = &scheduler->ledger;
    held->queue_places -= less.queue_places;
    held->disk_bytes -= less.disk_bytes;
    ledger->reserved.queue_places -= less.queue_places;
    ledger->reserved.disk_bytes -= less.disk_bytes;
    atomic_fetch_sub(&tenant->reserved_places, less.queue_places);
    atomic_fetch_sub(&tenant->reserved_bytes, less.disk_bytes);
    if (ledger->reserved.disk_bytes == 0) {
        ledger->largest_disk_bytes = 0;
    }
}

void ledger_reserve_result(struct scheduler *scheduler, struct job *job, uint64_t edge_count)
{
    const struct result_summary *result = &job->report.result;
    const uint64_t bytes = result->bytes > 0 ? result->bytes
                                             : ledger_result_bytes(result->form, job->vertex_count,
                                                                   edge_count, job->row.kind);
    ledger_reserve(scheduler, job->tenant, &job->held, (struct capacity){.disk_bytes = bytes});
}

uint32_t ledger_free_places(const struct scheduler *scheduler)
{
    const uint32_t limit = scheduler->config->queue_limit;
    const uint32_t taken = scheduler->queue.count + scheduler->ledger.reserved.queue_places;
    return taken < limit ? limit - taken : 0;
}

/* Returns an upper bound on the reserved bytes that are still to be written. A matrix whose file is
 * allocated already occupies its space, so it no longer counts as reserved. With a budget, older
 * results are evicted when new results arrive. */
static uint64_t bytes_to_come(const struct scheduler *scheduler)
{
    const uint64_t budget_bytes = scheduler->config->result_budget_bytes;
    const struct ledger *ledger = &scheduler->ledger;
    uint64_t to_come = ledger->reserved.disk_bytes;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const struct job *job = scheduler->workers[i].job;
        if (job != NULL && atomic_load(&job->signal->is_allocated)) {
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

uint64_t ledger_disk_room(const struct scheduler *scheduler)
{
    const uint64_t free_bytes = store_free_bytes(scheduler->store);
    const uint64_t kept = scheduler->config->disk_reserve_bytes + bytes_to_come(scheduler);
    return free_bytes > kept && !scheduler->ledger.is_full ? free_bytes - kept : 0;
}

static void room_ticked(uv_timer_t *tick)
{
    struct scheduler *scheduler = tick->data;
    if (scheduler->ledger.is_full) {
        /* The disk counts as full until the next job's result fits; before, the job would fail. */
        const uint64_t free_bytes = store_free_bytes(scheduler->store);
        const uint64_t reserve_bytes = scheduler->config->disk_reserve_bytes;
        const struct job *first = queue_first(&scheduler->queue, NULL);
        if (free_bytes < (reserve_bytes > LEAST_FREE_BYTES ? reserve_bytes : LEAST_FREE_BYTES) ||
            (first != NULL && first->held.disk_bytes > free_bytes)) {
            return;
        }
        scheduler->ledger.is_full = false;
        atomic_store(&scheduler->admission.full, false);
        log_write(LOG_INFO, "disk_space_available", LOG_NUMBER("free_bytes", (double)free_bytes));
    }
    uv_timer_stop(tick);
    scheduler->ledger.is_paused = false;
    scheduler->marks.ends_unstored = true;
    scheduler_wake(scheduler);
}

void ledger_pause(struct scheduler *scheduler)
{
    if (!scheduler->ledger.is_paused && scheduler->stage != SCHEDULER_DRAINED) {
        scheduler->ledger.is_paused = true;
        uv_timer_start(&scheduler->room_tick, room_ticked, LOOK_MS, LOOK_MS);
    }
}

void ledger_note_full(struct scheduler *scheduler)
{
    if (!scheduler->ledger.is_full) {
        scheduler->ledger.is_full = true;
        scheduler->marks.unparked = true; /* so that waiting changes are refused */
        atomic_store(&scheduler->admission.full, true);
        log_write(LOG_ERROR, "disk_full",
                  LOG_NUMBER("free_bytes", (double)store_free_bytes(scheduler->store)));
    }
    ledger_pause(scheduler);
}

/* Publishes the values by which HTTP threads check uploads. The scheduler checks them again. */
void ledger_publish(struct scheduler *scheduler)
{
    struct admission *admission = &scheduler->admission;
    const uint64_t reserve_bytes = scheduler->config->disk_reserve_bytes;
    const uint32_t count = scheduler->worker_count - (scheduler->group != NULL ? 1 : 0);
    const double workers = count > 0 ? count : 1;
    const double guess_s =
        fmin(fmax(ceil(scheduler->typical_solve_s / workers), 1), RETRY_AFTER_LIMIT_S);
    atomic_store(&admission->promised_bytes, reserve_bytes + bytes_to_come(scheduler));
    atomic_store(&admission->queue_free, ledger_free_places(scheduler));
    atomic_store(&admission->retry_after_s, (unsigned)guess_s);
}

unsigned ledger_retry_after_s(enum status status)
{
    if (status == STATUS_UPLOAD_MEMORY) {
        return 2; /* about the time of a large upload */
    }
    /* It is unknown when deletions will free space, so clients retry after a minute. */
    return status == STATUS_STORAGE_QUOTA || status == STATUS_DISK_FULL ? 60 : 0;
}
