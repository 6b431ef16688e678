#include "server/scheduler/job.h"

#include "server/scheduler/capacity.h"
#include "server/store/identity.h"

#include <math.h>
#include <search.h>
#include <string.h>

/* A vertex of a hierarchy takes as long as so many steps of a matrix. */
#define HIERARCHY_STEPS 1e5

/* The least cost charged to a tenant for a job: even a tiny one has to be moved to a device and
 * back. */
#define CUBES_MIN (64.0 * 64 * 64)

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
    job->accepted = true;
    job->committed = job_state_is_final(row->state);
    *ret_job = job;
    return STATUS_OK;
}

void job_destroy(struct job *job)
{
    if (job == NULL) {
        return;
    }
    CHECK(LIST_EMPTY(&job->waiters) && LIST_EMPTY(&job->acceptors));
    graph_destroy(job->graph);
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

/* The time that it takes, in cubed vertices. */
static double cubes_of(const struct job *job)
{
    const double n = job->vertex_count;
    return job->report.result.form == RESULT_FORM_HIERARCHY ? n * HIERARCHY_STEPS : n * n * n;
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
    CHECK(size <= sizeof(pattern.graph_id));
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
static struct job *find(void *const *root, const struct job *pattern,
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
    struct job *job = find(&table->by_id, &pattern, compare_id);
    return job != NULL && job->accepted ? job : NULL;
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
    return find(&table->by_key, &pattern, compare_key);
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

/* ---- The queue ---- */

static struct job_line *line_of(const struct job *job)
{
    CHECK(job->priority >= 0 && job->priority < PRIORITY_COUNT);
    return &job->share->lines[job->priority];
}

/* The place right behind this job. */
static struct job_place behind(const struct job *job)
{
    struct job_place place = job->place;
    place.number++;
    place.seconds += job->expected_s;
    return place;
}

void job_queue_push(struct job_queue *queue, struct job_share *share, struct job *job)
{
    job->share = share;
    job->expected_s = cubes_of(job) * queue->pace_s[job->kind];
    struct job_line *line = line_of(job);
    if (atomic_fetch_add(&share->count, 1) == 0) {
        /* Idle time is not saved up. */
        share->served = share->served < queue->served ? queue->served : share->served;
        share->previous = NULL;
        share->next = queue->shares;
        if (queue->shares != NULL) {
            queue->shares->previous = share;
        }
        queue->shares = share;
    }
    job->ahead = line->last;
    job->behind = NULL;
    if (line->last != NULL) {
        job->place = behind(line->last);
        line->last->behind = job;
    } else {
        job->place = (struct job_place){0};
        line->is_uneven = false;
        line->first = job;
    }
    line->last = job;
    line->count++;
    queue->count++;
}

static struct job *first_of(const struct job_share *share, const uint32_t vertex_limit[KIND_COUNT])
{
    for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
        for (struct job *job = share->lines[priority].first; job != NULL; job = job->behind) {
            /* The host makes a hierarchy, whatever the device holds. */
            if (vertex_limit == NULL || job->report.result.form == RESULT_FORM_HIERARCHY ||
                job->vertex_count <= vertex_limit[job->kind]) {
                return job;
            }
        }
    }
    return NULL;
}

struct job *job_queue_first_within(const struct job_queue *queue,
                                   const uint32_t vertex_limit[KIND_COUNT])
{
    const struct job_share *least = NULL;
    struct job *first = NULL;
    for (const struct job_share *share = queue->shares; share != NULL; share = share->next) {
        /* Shares are listed newest first: <= gives a tie to the share that came first. */
        struct job *job =
            least == NULL || share->served <= least->served ? first_of(share, vertex_limit) : NULL;
        if (job != NULL) {
            least = share;
            first = job;
        }
    }
    return first;
}

struct job *job_queue_first(const struct job_queue *queue)
{
    return job_queue_first_within(queue, NULL);
}

void job_queue_remove(struct job_queue *queue, struct job *job)
{
    struct job_line *line = line_of(job);
    CHECK(job->ahead != NULL || line->first == job);
    line->is_uneven |= job->ahead != NULL && job->behind != NULL;
    if (job->ahead != NULL) {
        job->ahead->behind = job->behind;
    } else {
        line->first = job->behind;
    }
    if (job->behind != NULL) {
        job->behind->ahead = job->ahead;
    } else {
        line->last = job->ahead;
    }
    job->ahead = NULL;
    job->behind = NULL;
    line->count--;
    queue->count--;
    struct job_share *share = job->share;
    job->share = NULL;
    if (atomic_fetch_sub(&share->count, 1) == 1) {
        if (share->next != NULL) {
            share->next->previous = share->previous;
        }
        if (share->previous != NULL) {
            share->previous->next = share->next;
        } else {
            queue->shares = share->next;
        }
    }
}

void job_queue_take(struct job_queue *queue, struct job *job)
{
    const double cubes = cubes_of(job);
    queue->served = job->share->served;
    job->share->served += cubes > CUBES_MIN ? cubes : CUBES_MIN;
    job_queue_remove(queue, job);
}

/* ---- What comes before ---- */

/* Counts the places of a line anew if one has left its middle. */
static void make_even(struct job_line *line)
{
    struct job_place place = {0};
    for (struct job *job = line->is_uneven ? line->first : NULL; job != NULL; job = job->behind) {
        job->place = place;
        place = behind(job);
    }
    line->is_uneven = false;
}

/* The shares take turns, so before a job of one come about as many of each other. */
uint32_t job_queue_position(const struct job_queue *queue, const struct job *job)
{
    struct job_line *line = line_of(job);
    make_even(line);
    uint32_t own = (uint32_t)(job->place.number - line->first->place.number);
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        own += job->share->lines[priority].count;
    }
    uint32_t position = own;
    for (const struct job_share *share = queue->shares; share != NULL; share = share->next) {
        const uint32_t turns = own + (share->served < job->share->served ? 1 : 0);
        const uint32_t count = atomic_load(&share->count);
        if (share != job->share) {
            position += count < turns ? count : turns;
        }
    }
    return position;
}

static double seconds_of_line(struct job_line *line)
{
    if (line->first == NULL) {
        return 0;
    }
    make_even(line);
    return behind(line->last).seconds - line->first->place.seconds;
}

/* The expected time of the jobs of a share above this priority; -1 is below all. */
static double seconds_above(struct job_share *share, int priority)
{
    double seconds = 0;
    for (int higher = PRIORITY_COUNT - 1; higher > priority; higher--) {
        seconds += seconds_of_line(&share->lines[higher]);
    }
    return seconds;
}

/* Every other share gets as much time as this one until then, if it has use for it. */
double job_queue_seconds_ahead(const struct job_queue *queue, const struct job *job)
{
    struct job_line *line = line_of(job);
    make_even(line);
    const double own_s =
        seconds_above(job->share, job->priority) + job->place.seconds - line->first->place.seconds;
    double seconds = own_s;
    for (struct job_share *share = queue->shares; share != NULL; share = share->next) {
        seconds += share != job->share ? fmin(seconds_above(share, -1), own_s) : 0;
    }
    return seconds;
}
