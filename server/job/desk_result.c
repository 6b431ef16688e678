#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

/* A key that cannot be entered for want of memory is not found: NotSolved until a restart. */
static void bind_key(struct desk *desk, const struct tenant *tenant, const char *key,
                     struct result *result)
{
    if (result == NULL) {
        result_table_remove(desk->results, tenant_number(tenant), key);
    } else if (result_table_put(desk->results, tenant_number(tenant), key, result) != STATUS_OK) {
        log_write(LOG_ERROR, "result_not_bound", LOG_TEXT("key", key));
    }
}

void desk_result_bind_name(struct desk *desk, const char *name, const struct graph_entry *entry)
{
    bind_key(desk, entry->tenant, name, graph_entry_answer(entry));
}

static void bind_job(struct desk *desk, const struct job *job, struct graph_entry *entry)
{
    if (job->state == JOB_DONE) {
        entry->has_done_jobs = true;
        bind_key(desk, entry->tenant, job->id, entry->results[job->kind]);
    }
}

static void bind_aliases(struct desk *desk, const struct graph_entry *entry)
{
    for (size_t i = 0; i < entry->name_count; i++) {
        desk_result_bind_name(desk, entry->names[i], entry);
    }
}

/* Every job of the graph that is done finds its result again, also one solved anew. Of most graphs
 * there is none, and the jobs of all graphs are many. */
static void bind_jobs(struct desk *desk, struct graph_entry *entry)
{
    if (!entry->has_done_jobs) {
        return;
    }
    for (const struct job *job = job_table_newest(desk->jobs); job != NULL; job = job->older) {
        if (strcmp(job->graph_id, entry->row.id) == 0) {
            bind_job(desk, job, entry);
        }
    }
}

void desk_result_bind_latest(struct desk *desk, const struct job *job, struct graph_entry *entry)
{
    bind_job(desk, job, entry);
    if (job->state == JOB_DONE && entry->results[job->kind] != NULL &&
        entry->answering != job->kind) {
        entry->answering = job->kind;
        bind_key(desk, entry->tenant, entry->row.id, graph_entry_answer(entry));
        bind_aliases(desk, entry);
    }
}

static uint64_t bytes_of(const struct result *result)
{
    return result_file_bytes(result_matrix_file(result));
}

enum status desk_result_publish(struct desk *desk, struct graph_entry *entry, struct result *result)
{
    enum status status =
        result_table_put(desk->results, tenant_number(entry->tenant), entry->row.id, result);
    if (status != STATUS_OK) {
        return status;
    }
    result_touch(result, clock_monotonic_s());
    enum kind kind = result_kind(result);
    desk->result_count += entry->results[kind] == NULL;
    desk->result_bytes += bytes_of(result);
    desk->result_bytes -= entry->results[kind] != NULL ? bytes_of(entry->results[kind]) : 0;
    graph_entry_set_result(entry, kind, result);
    entry->answering = kind;
    bind_aliases(desk, entry);
    bind_jobs(desk, entry);
    return STATUS_OK;
}

/* ---- The budget ---- */

struct oldest {
    struct graph_entry *entry;
    enum kind kind;
    uint64_t sum_bytes; /* of all results */
};

static struct oldest find_oldest(const struct desk *desk, const struct result *kept)
{
    struct oldest oldest = {0};
    for (struct graph_entry *e = graph_table_newest(desk->graphs); e != NULL; e = e->older) {
        for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
            const struct result *result = e->results[kind];
            if (result == NULL) {
                continue;
            }
            oldest.sum_bytes += bytes_of(result);
            if (result != kept &&
                (oldest.entry == NULL ||
                 result_touched_s(result) < result_touched_s(oldest.entry->results[oldest.kind]))) {
                oldest.entry = e;
                oldest.kind = kind;
            }
        }
    }
    return oldest;
}

/* Another kind's result answers then, if there is one. */
static void rebind_rest(struct desk *desk, struct graph_entry *entry)
{
    entry->answering = KIND_AUTO;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (entry->results[kind] != NULL) {
            entry->answering = kind;
        }
    }
    bind_key(desk, entry->tenant, entry->row.id, graph_entry_answer(entry));
    bind_aliases(desk, entry);
}

void desk_result_retire(struct desk *desk, struct graph_entry *entry, enum kind kind)
{
    result_table_remove_result(desk->results, entry->results[kind]);
    desk->result_bytes -= bytes_of(entry->results[kind]);
    graph_entry_set_result(entry, kind, NULL);
    desk->result_count--;
    rebind_rest(desk, entry);
}

static bool evict(struct desk *desk, struct graph_entry *entry, enum kind kind)
{
    struct desk_change *change;
    if (desk_change_create(desk, NULL, &change) != STATUS_OK) {
        return false;
    }
    log_write(LOG_INFO, "result_evicted", LOG_TEXT("graph", entry->row.id),
              LOG_TEXT("kind", kind_name(kind)),
              LOG_NUMBER("bytes", bytes_of(entry->results[kind])));
    metrics_add(METRIC_RESULTS_EVICTED, 1);
    change->result_row.kind = kind;
    memcpy(change->result_row.graph_id, entry->row.id, sizeof(entry->row.id));
    change->change.delete_result = &change->result_row;
    change->entry = entry;
    desk_result_retire(desk, entry, kind);
    desk_change_send(change);
    return true;
}

void desk_result_evict(struct desk *desk, const struct result *kept)
{
    uint64_t budget_bytes = desk->config->result_budget_bytes;
    const uint32_t limit = desk->config->result_limit < desk->result_limit
                               ? desk->config->result_limit
                               : desk->result_limit;
    while (budget_bytes > 0 || desk->result_count > limit) {
        struct oldest oldest = find_oldest(desk, kept);
        bool is_over =
            (budget_bytes > 0 && oldest.sum_bytes > budget_bytes) || desk->result_count > limit;
        if (!is_over || oldest.entry == NULL || !evict(desk, oldest.entry, oldest.kind)) {
            return;
        }
    }
}

/* ---- Questions for results ---- */

static bool has_result(struct desk *desk, const struct ask *ask)
{
    struct result *result = result_table_find(desk->results, tenant_number(ask->tenant), ask->key);
    if (result == NULL) {
        return false;
    }
    result_unref(result);
    return true;
}

static const struct job *job_of(const struct desk *desk, const struct ask *ask)
{
    const struct job *job = desk_find_job(desk, ask, ask->key);
    if (job != NULL && !(job->state == JOB_DONE)) {
        return job;
    }
    const struct graph_entry *entry = desk_graph_find(desk, ask);
    const struct job *latest =
        entry != NULL ? job_table_find(desk->jobs, entry->tenant, entry->latest_job) : NULL;
    return latest != NULL ? latest : job;
}

static void describe_missing(struct problem *problem, const char *key, const struct job *job)
{
    if (job == NULL || job->state == JOB_DONE) {
        problem_set(problem, STATUS_NOT_SOLVED, "There is no result for \"%s\" at present.", key);
    } else if (job_state_is_final(job->state)) {
        problem_set(problem, STATUS_NOT_SOLVED, "The job %s ended as %s%s%s", job->id,
                    job_state_name(job->state), job->report.problem.detail[0] != '\0' ? ": " : ".",
                    job->report.problem.detail);
    } else {
        problem_set(problem, STATUS_NOT_SOLVED, "The job %s is still %s.", job->id,
                    job_state_name(job->state));
    }
}

void desk_result_answer(struct desk *desk, struct ask *ask)
{
    const struct graph_entry *entry = desk_graph_find(desk, ask);
    const struct job *job = job_of(desk, ask);
    if (entry != NULL) {
        memcpy(ask->graph_id, entry->row.id, sizeof(ask->graph_id));
    }
    if (job != NULL) {
        memcpy(ask->job_id, job->id, sizeof(ask->job_id));
    }
    if (has_result(desk, ask)) {
        ask->status = STATUS_OK;
        ask->http_status = 200;
        desk_answer(ask);
        return;
    }
    struct problem problem;
    describe_missing(&problem, ask->key, job);
    if (job != NULL && !job_state_is_final(job->state)) {
        problem_hint(&problem, "Watch /v1/jobs/%s, or ask again with Prefer: wait=30.", job->id);
        ask->retry_after_s = 1;
    } else if (entry != NULL) {
        problem_hint(&problem, "Submit {\"graph\":\"%s\"} to /v1/jobs to have it solved.",
                     entry->row.id);
    }
    desk_answer_problem(ask, &problem);
}

/* A graph whose latest job failed would fail again. */
static bool is_worth_solving(const struct job *latest)
{
    return latest == NULL || latest->state == JOB_DONE || latest->state == JOB_CANCELLED;
}

void desk_result_ask(struct desk *desk, struct ask *ask)
{
    struct graph_entry *entry = desk_graph_find(desk, ask);
    if (entry == NULL && desk_find_job(desk, ask, ask->key) != NULL) {
        desk_answer_status(ask, STATUS_NO_SUCH_GRAPH, "The graph of this job was deleted.");
        return;
    }
    if (entry == NULL) {
        desk_answer_no_such(ask);
        return;
    }
    const struct job *job = job_of(desk, ask);
    struct job *active = job != NULL && !job_state_is_final(job->state)
                             ? job_table_find(desk->jobs, job->tenant, job->id)
                             : NULL;
    bool waits = ask->wait_s > 0 && !desk->draining && !has_result(desk, ask);
    if (waits && active != NULL) {
        desk_wait(desk, ask, active);
    } else if (waits && is_worth_solving(job)) {
        desk_submit_again(desk, ask, entry, job != NULL ? job->kind : KIND_AUTO);
    } else {
        desk_result_answer(desk, ask);
    }
}
