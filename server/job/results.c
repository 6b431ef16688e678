#include "server/clock.h"
#include "server/job/scheduler_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Keys ---- */

/* A key that cannot be entered for want of memory is not found: NotSolved until a restart. */
static void bind_key(struct scheduler *scheduler, const struct tenant *tenant, const char *key,
                     struct result *result)
{
    if (result == NULL) {
        result_table_remove(scheduler->results, tenant_number(tenant), key);
    } else if (result_table_put(scheduler->results, tenant_number(tenant), key, result) !=
               STATUS_OK) {
        log_write(LOG_ERROR, "result_not_bound", LOG_TEXT("key", key));
    }
}

void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry)
{
    bind_key(scheduler, entry->tenant, name, graph_entry_answer(entry));
}

static void bind_aliases(struct scheduler *scheduler, const struct graph_entry *entry)
{
    for (size_t i = 0; i < entry->name_count; i++) {
        results_bind_name(scheduler, entry->names[i], entry);
    }
}

void results_bind_latest(struct scheduler *scheduler, const struct job *job,
                         struct graph_entry *entry)
{
    struct result *result = entry->results[job->kind];
    if (job->state != JOB_DONE) {
        return;
    }
    bind_key(scheduler, entry->tenant, job->id, result);
    if (result != NULL && entry->answering != job->kind) {
        entry->answering = job->kind;
        bind_key(scheduler, entry->tenant, entry->row.id, result);
        bind_aliases(scheduler, entry);
    }
}

/* ---- Results by the time of their last query ----
 *
 * A binary heap with lazy keys: a query only touches the result, on its own thread, so the times in
 * the heap may be too early. The first item is looked at again before it is used, and moves down if
 * it was touched meanwhile. */

static uint64_t bytes_of(const struct result *result)
{
    return result_file_bytes(result_matrix_file(result));
}

static void put_item(struct scheduler *scheduler, size_t index, struct result_item item)
{
    scheduler->items[index] = item;
    item.entry->item_index[item.kind] = (uint32_t)index;
}

static void move_up(struct scheduler *scheduler, size_t index)
{
    const struct result_item item = scheduler->items[index];
    while (index > 0 && item.touched_s < scheduler->items[(index - 1) / 2].touched_s) {
        put_item(scheduler, index, scheduler->items[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put_item(scheduler, index, item);
}

static void move_down(struct scheduler *scheduler, size_t index)
{
    const size_t count = scheduler->capacity.result_count;
    const struct result_item item = scheduler->items[index];
    for (size_t child = 2 * index + 1; child < count; child = 2 * index + 1) {
        if (child + 1 < count &&
            scheduler->items[child + 1].touched_s < scheduler->items[child].touched_s) {
            child++;
        }
        if (item.touched_s <= scheduler->items[child].touched_s) {
            break;
        }
        put_item(scheduler, index, scheduler->items[child]);
        index = child;
    }
    put_item(scheduler, index, item);
}

static enum status reserve_item(struct scheduler *scheduler)
{
    if (scheduler->capacity.result_count < scheduler->item_room) {
        return STATUS_OK;
    }
    const size_t room = scheduler->item_room > 0 ? 2 * scheduler->item_room : 64;
    struct result_item *items = realloc(scheduler->items, room * sizeof(*items));
    if (items == NULL) {
        return STATUS_NO_MEMORY;
    }
    scheduler->items = items;
    scheduler->item_room = room;
    return STATUS_OK;
}

static void remove_item(struct scheduler *scheduler, size_t index)
{
    const size_t last = --scheduler->capacity.result_count;
    if (index < last) {
        put_item(scheduler, index, scheduler->items[last]);
        move_up(scheduler, index);
        move_down(scheduler,
                  scheduler->items[index].entry->item_index[scheduler->items[index].kind]);
    }
}

/* The result longest unasked; NULL when there is none beside `kept`, which counts as asked for
 * now. */
static const struct result_item *find_oldest(struct scheduler *scheduler, const struct result *kept)
{
    while (scheduler->capacity.result_count > 0) {
        struct result_item *first = &scheduler->items[0];
        struct result *result = first->entry->results[first->kind];
        if (result == kept && scheduler->capacity.result_count == 1) {
            return NULL;
        }
        if (result == kept) {
            result_touch(result, clock_monotonic_s());
        } else if (result_touched_s(result) <= first->touched_s) {
            return first;
        }
        first->touched_s = result_touched_s(result);
        move_down(scheduler, 0);
    }
    return NULL;
}

/* ---- Publishing and retiring ---- */

enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                            struct result *result)
{
    const enum kind kind = result_kind(result);
    enum status status = reserve_item(scheduler);
    if (status == STATUS_OK) {
        status = result_table_put(scheduler->results, tenant_number(entry->tenant), entry->row.id,
                                  result);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const double now_s = clock_monotonic_s();
    result_touch(result, now_s);
    scheduler->capacity.result_bytes += bytes_of(result);
    if (entry->results[kind] != NULL) {
        scheduler->capacity.result_bytes -= bytes_of(entry->results[kind]);
        remove_item(scheduler, entry->item_index[kind]);
    }
    graph_entry_set_result(entry, kind, result);
    put_item(scheduler, scheduler->capacity.result_count++,
             (struct result_item){.entry = entry, .kind = kind, .touched_s = now_s});
    move_up(scheduler, scheduler->capacity.result_count - 1);
    entry->answering = kind;
    bind_aliases(scheduler, entry);
    /* Every job of the graph that is done finds its result again, also one solved anew. */
    const struct job *job = job_table_newest_of(scheduler->jobs, entry->row.id);
    for (; job != NULL; job = job->older_of_graph) {
        if (job->state == JOB_DONE) {
            bind_key(scheduler, entry->tenant, job->id, entry->results[job->kind]);
        }
    }
    return STATUS_OK;
}

void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind)
{
    result_table_remove_result(scheduler->results, entry->results[kind]);
    scheduler->capacity.result_bytes -= bytes_of(entry->results[kind]);
    remove_item(scheduler, entry->item_index[kind]);
    graph_entry_set_result(entry, kind, NULL);
    /* The result of another kind answers then, if there is one. */
    entry->answering = KIND_AUTO;
    for (enum kind other = KIND_I4; other < KIND_COUNT; other++) {
        if (entry->results[other] != NULL) {
            entry->answering = other;
        }
    }
    bind_key(scheduler, entry->tenant, entry->row.id, graph_entry_answer(entry));
    bind_aliases(scheduler, entry);
}

void results_evict(struct scheduler *scheduler, const struct result *kept)
{
    const uint64_t budget_bytes = scheduler->config->result_budget_bytes;
    const struct capacity_ledger *ledger = &scheduler->capacity;
    const uint32_t limit = scheduler->config->result_limit < ledger->result_limit
                               ? scheduler->config->result_limit
                               : ledger->result_limit;
    while (ledger->result_count > limit ||
           (budget_bytes > 0 && ledger->result_bytes > budget_bytes)) {
        struct commit *commit;
        const struct result_item *oldest = find_oldest(scheduler, kept);
        if (oldest == NULL || commit_create(scheduler, NULL, &commit) != STATUS_OK) {
            return;
        }
        struct graph_entry *entry = oldest->entry;
        const enum kind kind = oldest->kind;
        log_write(LOG_INFO, "result_evicted", LOG_TEXT("graph", entry->row.id),
                  LOG_TEXT("kind", kind_name(kind)),
                  LOG_NUMBER("bytes", bytes_of(entry->results[kind])));
        metrics_add(METRIC_RESULTS_EVICTED, 1);
        commit_delete_result(commit, entry, kind, false);
        results_retire(scheduler, entry, kind);
        commit_send(commit);
    }
}

/* ---- Jobs whose result is there already ---- */

/* The latest job that is done with this. */
static const struct job *find_solver(const struct scheduler *scheduler, const struct job *job)
{
    const struct job *other = job_table_newest_of(scheduler->jobs, job->graph_id);
    while (other != NULL && (other->state != JOB_DONE || other->kind != job->kind)) {
        other = other->older_of_graph;
    }
    return other;
}

bool results_is_known(const struct scheduler *scheduler, const struct graph_entry *entry,
                      const struct job *job)
{
    if (entry == NULL || entry->results[job->kind] == NULL) {
        return false;
    }
    const struct job *solver = job->verify ? find_solver(scheduler, job) : NULL;
    return !job->verify || (solver != NULL && solver->report.verification.done);
}

void results_end_known_job(const struct scheduler *scheduler, struct job *job)
{
    const struct job *solver = find_solver(scheduler, job);
    job->state = JOB_DONE;
    metrics_add(METRIC_JOBS_DONE, 1);
    metrics_add(METRIC_JOBS_KNOWN, 1);
    job->started_s = clock_wall_s();
    job->finished_s = job->started_s;
    if (solver != NULL) {
        const struct job_report own = job->report;
        job->report = solver->report;
        job->report.input = own.input;
        memcpy(job->report.traceparent, own.traceparent, sizeof(own.traceparent));
        job->report.cycle = NULL; /* owned by the other; a job that is done has none */
        job->report.timings = (struct timings){0};
        job->report.verification.seconds = 0;
    }
}

/* ---- Calls for results ---- */

bool results_has(const struct scheduler *scheduler, const struct call *call)
{
    struct result *result =
        result_table_find(scheduler->results, tenant_number(call->tenant), call->key);
    if (result == NULL) {
        return false;
    }
    result_unref(result);
    return true;
}

struct job *results_job_to_watch(const struct scheduler *scheduler, const struct call *call)
{
    struct job *job = answer_find_job(scheduler, call, call->key);
    if (job != NULL && job->state != JOB_DONE) {
        return job;
    }
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    struct job *latest =
        entry != NULL ? job_table_find(scheduler->jobs, entry->tenant, entry->latest_job) : NULL;
    return latest != NULL ? latest : job;
}

void results_answer(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    const struct job *job = results_job_to_watch(scheduler, call);
    struct problem problem;
    if (entry != NULL) {
        memcpy(call->graph_id, entry->row.id, sizeof(call->graph_id));
    }
    if (job != NULL) {
        memcpy(call->job_id, job->id, sizeof(call->job_id));
    }
    if (results_has(scheduler, call)) {
        answer_empty(call, 200);
        return;
    }
    const bool is_active = job != NULL && !job_state_is_final(job->state);
    if (job == NULL || job->state == JOB_DONE) {
        problem_set(&problem, STATUS_NOT_SOLVED, "There is no result for \"%s\" at present.",
                    call->key);
    } else if (is_active) {
        problem_set(&problem, STATUS_NOT_SOLVED, "The job %s is still %s.", job->id,
                    job_state_name(job->state));
    } else {
        problem_set(&problem, STATUS_NOT_SOLVED, "The job %s ended as %s%s%s", job->id,
                    job_state_name(job->state), job->report.problem.detail[0] != '\0' ? ": " : ".",
                    job->report.problem.detail);
    }
    if (is_active) {
        problem_hint(&problem, "Watch /v1/jobs/%s, or ask again with Prefer: wait=30.", job->id);
        call->retry_after_s = 1;
    } else if (entry != NULL) {
        problem_hint(&problem, "Submit {\"graph\":\"%s\"} to /v1/jobs to have it solved.",
                     entry->row.id);
    }
    answer_problem(call, &problem);
}
