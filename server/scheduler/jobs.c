#include "server/scheduler/jobs.h"

#include "server/scheduler/tenants.h"
#include "server/store/identity.h"

#include <math.h>
#include <search.h>
#include <string.h>

enum status job_create(const char *graph_id, enum kind kind, double wall_s, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = identity_new("j_", wall_s, job->id);
    if (status != STATUS_OK) {
        free(job);
        return status;
    }
    memcpy(job->graph_id, graph_id, strnlen(graph_id, GRAPH_ID_SIZE - 1));
    job->kind = kind;
    job->created_s = wall_s;
    job->signal = &job->own_signal;
    *ret_job = job;
    return STATUS_OK;
}

enum status job_restore(const struct job_row *row, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (row->report != NULL) {
        enum status status = job_report_decode(row->report, &job->report);
        if (status != STATUS_OK) {
            free(job);
            return status;
        }
    }
    if (job->report.result.form == RESULT_FORM_AUTO) {
        /* A report is kept before the end only where it says something else. */
        job->report.result =
            (struct result_summary){.form = RESULT_FORM_MATRIX, .reason = RESULT_REASON_FITS};
    }
    job->signal = &job->own_signal;
    memcpy(job->id, row->id, sizeof(job->id));
    memcpy(job->graph_id, row->graph_id, sizeof(job->graph_id));
    memcpy(job->idempotency_key, row->idempotency_key, sizeof(job->idempotency_key));
    memcpy(job->fingerprint, row->fingerprint, sizeof(job->fingerprint));
    job->state = row->state;
    job->kind = row->kind;
    job->priority = row->priority;
    job->verify = row->verify;
    job->deadline_s = row->deadline_s;
    job->created_s = row->created_s;
    job->started_s = row->started_s;
    job->finished_s = row->finished_s;
    job->durability = job_state_is_final(row->state) ? JOB_END_STORED : JOB_ACCEPTED;
    *ret_job = job;
    return STATUS_OK;
}

void job_set_graph(struct job *job, uint32_t vertex_count, const struct graph_summary *summary)
{
    job->vertex_count = vertex_count;
    job->is_scaled = graph_cost(summary, job->kind) == COST_DECIMALS;
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

void job_fill_row(const struct job *job, const char *report, struct job_row *ret_row)
{
    *ret_row = (struct job_row){
        .state = job->state,
        .kind = job->kind,
        .priority = job->priority,
        .verify = job->verify,
        .deadline_s = job->deadline_s,
        .created_s = job->created_s,
        .started_s = job->started_s,
        .finished_s = job->finished_s,
        .report = report,
    };
    if (job->tenant != NULL) {
        memcpy(ret_row->tenant, job->tenant->name, sizeof(ret_row->tenant));
    }
    memcpy(ret_row->id, job->id, sizeof(job->id));
    memcpy(ret_row->graph_id, job->graph_id, sizeof(job->graph_id));
    memcpy(ret_row->idempotency_key, job->idempotency_key, sizeof(job->idempotency_key));
    memcpy(ret_row->fingerprint, job->fingerprint, sizeof(job->fingerprint));
}

double job_progress(const struct job *job, double monotonic_s)
{
    if (job->state == JOB_QUEUED || job->state == JOB_DONE) {
        return job->state == JOB_DONE ? 1 : 0;
    }
    struct progress *progress = &job->signal->progress;
    /* A process may have left any value. */
    return job->state == JOB_RUNNING ? progress_share(progress, monotonic_s)
                                     : fmin(fmax(progress->shown, 0), PROGRESS_SHARE_MAX);
}

double job_eta_s(const struct job *job, double monotonic_s)
{
    return job->state == JOB_RUNNING ? progress_left_s(&job->signal->progress, monotonic_s) : -1;
}

void job_trace_id_of(const char *traceparent, char ret_id[TRACE_ID_SIZE])
{
    /* Behind the version and its dash. */
    const char *id = traceparent[0] != '\0' ? traceparent + 3 : "";
    memset(ret_id, 0, TRACE_ID_SIZE);
    memcpy(ret_id, id, strnlen(id, TRACE_ID_SIZE - 1));
}

void job_trace_id(const struct job *job, char ret_id[TRACE_ID_SIZE])
{
    job_trace_id_of(job->report.traceparent, ret_id);
}

/* ---- The table ---- */

/* The jobs of the graphs of one id. */
struct job_group {
    char graph_id[GRAPH_ID_SIZE];
    struct job *newest;
    struct job *solver[KIND_COUNT]; /* done last */
};

/* By whose they are first: the words of one tenant are never compared with those of another, so
 * that the time of a look tells nothing of them. */
static int compare_id(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->id, b->id);
}

static int compare_key(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->idempotency_key, b->idempotency_key);
}

static int compare_graph(const void *left, const void *right)
{
    return strcmp(((const struct job_group *)left)->graph_id,
                  ((const struct job_group *)right)->graph_id);
}

enum status job_table_create(struct job_table **ret_table)
{
    struct job_table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    TAILQ_INIT(&table->unfinished);
    TAILQ_INIT(&table->history);
    *ret_table = table;
    return STATUS_OK;
}

void job_table_destroy(struct job_table *table)
{
    if (table == NULL) {
        return;
    }
    while (table->oldest != NULL) {
        job_table_remove(table, table->oldest);
    }
    free(table);
}

static struct job_group *find_group(const struct job_table *table, const char *graph_id)
{
    struct job_group pattern;
    const size_t size = strlen(graph_id) + 1;
    if (size > sizeof(pattern.graph_id)) {
        return NULL; /* the id of a damaged row */
    }
    memcpy(pattern.graph_id, graph_id, size);
    struct job_group *const *node = tfind(&pattern, &table->by_graph, compare_graph);
    return node != NULL ? *node : NULL;
}

/* As the newest of its group, which is made for the first. */
static enum status join_group(struct job_table *table, struct job *job)
{
    struct job_group *group = find_group(table, job->graph_id);
    if (group == NULL) {
        group = calloc(1, sizeof(*group));
        if (group == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(group->graph_id, job->graph_id, sizeof(group->graph_id));
        if (tsearch(group, &table->by_graph, compare_graph) == NULL) {
            free(group);
            return STATUS_NO_MEMORY;
        }
    }
    job->group = group;
    job->newer_of_graph = NULL;
    job->older_of_graph = group->newest;
    if (group->newest != NULL) {
        group->newest->newer_of_graph = job;
    }
    group->newest = job;
    return STATUS_OK;
}

static void leave_group(struct job_table *table, struct job *job)
{
    struct job_group *group = job->group;
    if (job->older_of_graph != NULL) {
        job->older_of_graph->newer_of_graph = job->newer_of_graph;
    }
    if (job->newer_of_graph != NULL) {
        job->newer_of_graph->older_of_graph = job->older_of_graph;
    } else {
        group->newest = job->older_of_graph;
    }
    /* Jobs are forgotten in the order of their ends: none of the kind was done before. */
    if (group->solver[job->kind] == job) {
        group->solver[job->kind] = NULL;
    }
    if (group->newest == NULL) {
        tdelete(group, &table->by_graph, compare_graph);
        free(group);
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
    if (join_group(table, job) != STATUS_OK) {
        tdelete(job, &table->by_id, compare_id);
        return STATUS_NO_MEMORY;
    }
    /* A key found twice stays with its first job. */
    if (job->idempotency_key[0] != '\0' && tsearch(job, &table->by_key, compare_key) == NULL) {
        leave_group(table, job);
        tdelete(job, &table->by_id, compare_id);
        return STATUS_NO_MEMORY;
    }
    job->number = ++table->last_number;
    job->newer = NULL;
    job->older = table->newest;
    if (table->newest != NULL) {
        table->newest->newer = job;
    } else {
        table->oldest = job;
    }
    table->newest = job;
    TAILQ_INSERT_TAIL(&table->unfinished, job, in_list);
    if (job->tenant != NULL) {
        LIST_INSERT_HEAD(&job->tenant->jobs, job, of_tenant);
    }
    *take_job = NULL;
    return STATUS_OK;
}

void job_table_end(struct job_table *table, struct job *job)
{
    job->is_history = true;
    TAILQ_REMOVE(&table->unfinished, job, in_list);
    TAILQ_INSERT_TAIL(&table->history, job, in_list);
    table->history_count++;
    if (job->state == JOB_DONE) {
        job->group->solver[job->kind] = job;
    }
}

void job_table_remove(struct job_table *table, struct job *job)
{
    tdelete(job, &table->by_id, compare_id);
    if (job_table_find_key(table, job->tenant, job->idempotency_key) == job) {
        tdelete(job, &table->by_key, compare_key);
    }
    leave_group(table, job);
    TAILQ_REMOVE(job->is_history ? &table->history : &table->unfinished, job, in_list);
    table->history_count -= job->is_history;
    if (job->tenant != NULL) {
        LIST_REMOVE(job, of_tenant);
    }
    if (job->older != NULL) {
        job->older->newer = job->newer;
    } else {
        table->oldest = job->newer;
    }
    if (job->newer != NULL) {
        job->newer->older = job->older;
    } else {
        table->newest = job->older;
    }
    job_destroy(job);
}

/* A job to compare with: only its id or its key is looked at. */
static struct job *find_in_tree(void *const *root, const struct job *pattern,
                                int (*compare)(const void *, const void *))
{
    struct job *const *node = tfind(pattern, root, compare);
    return node != NULL ? *node : NULL;
}

struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id)
{
    struct job pattern;
    size_t size = strlen(id);
    if (size >= sizeof(pattern.id)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.id, id, size + 1);
    struct job *job = find_in_tree(&table->by_id, &pattern, compare_id);
    return job != NULL && job->durability != JOB_ACCEPTING ? job : NULL;
}

struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key)
{
    struct job pattern;
    size_t size = strlen(idempotency_key);
    if (size == 0 || size >= sizeof(pattern.idempotency_key)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.idempotency_key, idempotency_key, size + 1);
    return find_in_tree(&table->by_key, &pattern, compare_key);
}

struct job *job_table_newest_of(const struct job_table *table, const char *graph_id)
{
    const struct job_group *group = find_group(table, graph_id);
    return group != NULL ? group->newest : NULL;
}

const struct job *job_table_solver_of(const struct job_table *table, const char *graph_id,
                                      enum kind kind)
{
    const struct job_group *group = find_group(table, graph_id);
    return group != NULL ? group->solver[kind] : NULL;
}
