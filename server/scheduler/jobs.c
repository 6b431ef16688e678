#include "server/scheduler/jobs.h"

#include "server/scheduler/graphs.h"
#include "server/store/identity.h"

#include <search.h>
#include <stdio.h>
#include <string.h>

enum status job_create(const char *graph_id, enum kind kind, double wall_s, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    const enum status status =
        job != NULL ? identity_new("j_", wall_s, job->row.id) : STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        free(job);
        return status;
    }
    memcpy(job->row.graph_id, graph_id, strnlen(graph_id, GRAPH_ID_SIZE - 1));
    job->row.kind = kind;
    job->row.created_s = wall_s;
    *ret_job = job;
    return STATUS_OK;
}

enum status job_restore(const struct job_row *row, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status =
        row->report != NULL ? job_report_decode(row->report, &job->report) : STATUS_OK;
    if (status == STATUS_NO_MEMORY) {
        free(job);
        return status;
    }
    if (job->report.result.form == RESULT_FORM_AUTO) {
        /* The row is old and has no report, or its report is unreadable. */
        job->report.result =
            (struct result_summary){.form = RESULT_FORM_MATRIX, .reason = RESULT_REASON_FITS};
    }
    job->row = *row;
    job->row.report = NULL;
    job->durability = job_state_is_final(row->state) ? JOB_END_STORED : JOB_ACCEPTED;
    *ret_job = job;
    return STATUS_OK;
}

void job_set_graph(struct job *job, uint32_t vertex_count, const struct graph_summary *summary)
{
    job->vertex_count = vertex_count;
    job->cost = graph_cost(summary, job->row.kind);
}

void job_destroy(struct job *job)
{
    if (job == NULL) {
        return;
    }
    CHECK(LIST_EMPTY(&job->waiters) && LIST_EMPTY(&job->acceptors));
    free(job->arcs);
    job_report_finish(&job->report);
    free(job);
}

void job_stop(struct job *job, enum job_stop reason)
{
    job->stop = reason > job->stop ? reason : job->stop;
    if (job->signal != NULL) {
        atomic_store(&job->signal->cancelled, true);
    }
}

double job_progress(const struct job *job, double monotonic_s)
{
    if (job->row.state == JOB_QUEUED || job->row.state == JOB_DONE) {
        return job->row.state == JOB_DONE ? 1 : 0;
    }
    return job->signal != NULL ? progress_share(&job->signal->progress, monotonic_s)
                               : job->progress;
}

double job_eta_s(const struct job *job, double monotonic_s)
{
    return job->signal != NULL ? progress_left_s(&job->signal->progress, monotonic_s) : -1;
}

struct trace_id job_trace_id(const char *traceparent)
{
    struct trace_id id;
    /* The trace ID follows the version and a dash. */
    snprintf(id.text, sizeof(id.text), "%s", traceparent[0] != '\0' ? traceparent + 3 : "");
    return id;
}

/* Tenants are compared first: IDs of different tenants are never compared, so the time of a lookup
 * reveals nothing about other tenants. */
static int compare_id(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->row.id, b->row.id);
}

static int compare_key(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->row.idempotency_key, b->row.idempotency_key);
}

void job_table_init(struct job_table *table)
{
    TAILQ_INIT(&table->unfinished);
    TAILQ_INIT(&table->history);
}

void job_table_finish(struct job_table *table)
{
    struct job *job;
    while ((job = TAILQ_FIRST(&table->unfinished)) != NULL ||
           (job = TAILQ_FIRST(&table->history)) != NULL) {
        job_table_remove(table, job);
    }
}

enum status job_table_add(struct job_table *table, struct job **take_job)
{
    struct job *job = *take_job;
    struct job **node = tsearch(job, &table->by_id, compare_id);
    if (node == NULL) {
        return STATUS_NO_MEMORY;
    }
    CHECK(*node == job);
    /* If two jobs have the same idempotency key, the key finds the first job. */
    if (job->row.idempotency_key[0] != '\0' && tsearch(job, &table->by_key, compare_key) == NULL) {
        tdelete(job, &table->by_id, compare_id);
        return STATUS_NO_MEMORY;
    }
    job->number = ++table->last_number;
    TAILQ_INSERT_TAIL(&table->unfinished, job, in_list);
    if (job->graph != NULL) {
        LIST_INSERT_HEAD(&job->graph->jobs, job, of_graph);
    }
    LIST_INSERT_HEAD(&job->tenant->jobs, job, of_tenant);
    *take_job = NULL;
    return STATUS_OK;
}

void job_table_end(struct job_table *table, struct job *job)
{
    job->is_history = true;
    TAILQ_REMOVE(&table->unfinished, job, in_list);
    TAILQ_INSERT_TAIL(&table->history, job, in_list);
    table->history_count++;
    if (job->row.state == JOB_DONE && job->graph != NULL) {
        job->graph->solvers[job->row.kind] = job;
    }
}

void job_table_remove(struct job_table *table, struct job *job)
{
    tdelete(job, &table->by_id, compare_id);
    if (job_table_find_key(table, job->tenant, job->row.idempotency_key) == job) {
        tdelete(job, &table->by_key, compare_key);
    }
    if (job->graph != NULL) {
        LIST_REMOVE(job, of_graph);
        /* Jobs are removed oldest first, so no older job of this graph and kind can replace it. */
        if (job->graph->solvers[job->row.kind] == job) {
            job->graph->solvers[job->row.kind] = NULL;
        }
        if (job->graph->latest_job == job) {
            job->graph->latest_job = NULL;
        }
    }
    TAILQ_REMOVE(job->is_history ? &table->history : &table->unfinished, job, in_list);
    table->history_count -= job->is_history;
    LIST_REMOVE(job, of_tenant);
    job_destroy(job);
}

struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id)
{
    struct job pattern;
    size_t size = strlen(id);
    if (size >= sizeof(pattern.row.id)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.row.id, id, size + 1);
    struct job *const *node = tfind(&pattern, &table->by_id, compare_id);
    return node != NULL && (*node)->durability != JOB_ACCEPTING ? *node : NULL;
}

struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key)
{
    struct job pattern;
    if (idempotency_key[0] == '\0') {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    snprintf(pattern.row.idempotency_key, IDEMPOTENCY_KEY_SIZE, "%s", idempotency_key);
    struct job *const *node = tfind(&pattern, &table->by_key, compare_key);
    return node != NULL ? *node : NULL;
}
