#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

/* Graphs that queued jobs keep in memory, so that a solve need not read them again. */
#define KEPT_LIMIT_BYTES ((size_t)256 << 20)

static void fill_graph_row(const struct submission *submission, struct graph_row *row)
{
    const struct graph *graph = submission->graph;
    *row = (struct graph_row){
        .created_s = clock_wall_s(),
        .vertex_count = graph->vertex_count,
        .edge_count = graph->edge_count,
        .directed = graph->directed,
        .summary = graph->summary,
    };
    memcpy(row->id, submission->graph_id, sizeof(row->id));
    memcpy(row->tenant, submission->ask->tenant->name, sizeof(row->tenant));
}

/* The new alias answers as its graph does. */
static void apply_name(struct desk *desk, const struct desk_change *change)
{
    const char *name = change->name_row.name;
    if (name[0] == '\0') {
        return;
    }
    if (graph_table_name(desk->graphs, name, change->entry) == STATUS_OK) {
        desk_result_bind_name(desk, name, change->entry);
    }
}

/* What the disk now has, or what it refused. */
static void apply_graph(struct desk_change *change)
{
    struct graph_entry *entry = change->entry;
    if (change->change.status == STATUS_OK) {
        if (change->change.graph != NULL) {
            entry->row.file_bytes = change->change.graph_file_bytes;
            entry->damaged = false;
        }
        graph_entry_commit(entry);
        apply_name(change->desk, change);
    } else {
        graph_table_drop(change->desk->graphs, entry);
    }
}

static void answer_not_stored(struct ask *ask, enum status status)
{
    desk_answer_status(ask, status,
                       status == STATUS_DISK_FULL
                           ? "There is no room on the disk; nothing was kept."
                           : "The state directory cannot be written; nothing was kept.");
}

static void graph_stored(struct desk_change *change)
{
    bool is_new = change->change.graph != NULL;
    apply_graph(change);
    if (change->change.status == STATUS_OK) {
        desk_answer_graph(change->ask, change->entry, is_new ? 201 : 200);
    } else {
        answer_not_stored(change->ask, change->change.status);
    }
}

/* The asks that wait for the acceptance, oldest last. */
static struct ask *take_acceptors(struct job *job)
{
    struct ask *acceptors = job->acceptors;
    job->acceptors = NULL;
    return acceptors;
}

static void job_refused(struct desk_change *change)
{
    struct job *job = change->job;
    desk_room_release(change->desk, job);
    struct ask *next;
    for (struct ask *ask = take_acceptors(job); ask != NULL; ask = next) {
        next = ask->next_waiter;
        answer_not_stored(ask, change->change.status);
    }
    desk_dispatch_unpledge(job);
    job_table_remove(change->desk->jobs, job);
}

static void keep_graph(struct desk *desk, struct job *job, struct graph **take_graph)
{
    job->graph = *take_graph;
    *take_graph = NULL;
    size_t bytes = job_graph_bytes(job);
    const bool is_outline = job->graph != NULL && job->graph->target == NULL;
    if (is_outline || bytes > KEPT_LIMIT_BYTES - desk->kept_bytes) {
        graph_destroy(job->graph);
        job->graph = NULL;
        return;
    }
    desk->kept_bytes += bytes;
}

/* ask: the request that brought it. */
static void log_accepted(const struct job *job, const struct ask *ask)
{
    char trace_id[TRACE_ID_SIZE];
    job_trace_id(job, trace_id);
    log_write(LOG_INFO, "job_accepted", LOG_TEXT("job", job->id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("request", ask->request_id), LOG_TEXT("graph", job->graph_id),
              LOG_TEXT("kind", kind_name(job->kind)),
              LOG_TEXT("state", job_state_name(job->state)));
}

static void job_accepted(struct desk *desk, struct desk_change *change)
{
    struct job *job = change->job;
    struct ask *acceptors = take_acceptors(job);
    job->accepted = true;
    memcpy(change->entry->latest_job, job->id, sizeof(job->id));
    log_accepted(job, change->ask);
    metrics_add(METRIC_JOBS_ACCEPTED, 1);
    if (job->state == JOB_DONE) {
        desk_result_bind_latest(desk, job, change->entry);
    } else {
        keep_graph(desk, job, &change->graph);
        desk_dispatch_queue(desk, job);
    }
    struct ask *next;
    for (struct ask *ask = acceptors; ask != NULL; ask = next) {
        next = ask->next_waiter;
        desk_wait(desk, ask, job);
    }
    desk_dispatch(desk);
}

static void job_stored(struct desk_change *change)
{
    struct desk *desk = change->desk;
    bool queued = change->job->state == JOB_QUEUED;
    bool refused = change->change.status != STATUS_OK;
    if (queued) {
        desk->reserved--;
        atomic_fetch_sub(&change->job->tenant->reserved, 1);
        change->entry->active_jobs -= refused ? 1 : 0;
    }
    apply_graph(change);
    if (refused) {
        job_refused(change);
        return;
    }
    change->job->committed = !queued; /* the answer says so */
    job_accepted(desk, change);
    if (!queued) {
        desk_finish_committed(desk, change->job);
    }
}

/* What a change to do with this submission has in any case. */
static enum status create_change(struct submission *submission, struct graph_entry *entry,
                                 void (*then)(struct desk_change *change),
                                 struct desk_change **ret_change)
{
    enum status status = desk_change_create(submission->desk, then, ret_change);
    if (status != STATUS_OK) {
        return status;
    }
    struct desk_change *change = *ret_change;
    change->ask = submission->ask;
    change->entry = entry;
    desk_change_add_name(change, submission->ask->parameters.name);
    change->graph = submission->graph;
    submission->graph = NULL;
    change->share = upload_share_move(&submission->share);
    if ((!entry->committed || entry->damaged) && change->graph != NULL) {
        change->graph_row = entry->row;
        change->change.graph = change->graph;
        change->change.graph_row = &change->graph_row;
        change->change.draft = submission->draft;
        submission->draft.begun = false;
    }
    return STATUS_OK;
}

/* Of the graph's file, if it is to be written: about as much as the graph takes in memory. */
static uint64_t graph_bytes(const struct submission *submission, const struct graph_entry *entry)
{
    const struct graph *graph = submission->graph;
    if (graph == NULL || (entry->committed && !entry->damaged)) {
        return 0;
    }
    const uint64_t weight_bytes =
        graph->weight_type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double);
    return graph->edge_count * (sizeof(uint32_t) + weight_bytes) +
           ((uint64_t)graph->vertex_count + 1) * sizeof(uint64_t) +
           vertex_names_encoded_size(graph->names);
}

static enum status check_quota(struct submission *submission, const struct graph_entry *entry,
                               uint64_t result_bytes)
{
    return tenant_check_bytes(submission->tenant, &submission->ask->quota,
                              graph_bytes(submission, entry) + result_bytes, &submission->problem);
}

static void accept_graph(struct submission *submission, struct graph_entry *entry)
{
    if (entry->committed && !entry->damaged && submission->ask->parameters.name[0] == '\0') {
        desk_answer_graph(submission->ask, entry, 200);
        submission_end(submission);
        return;
    }
    if (submission->desk->full) {
        problem_set(&submission->problem, STATUS_DISK_FULL,
                    "There is no room on the disk; nothing was kept.");
        submission_refuse(submission, &submission->problem);
        return;
    }
    if (check_quota(submission, entry, 0) != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    struct desk_change *change;
    if (create_change(submission, entry, graph_stored, &change) != STATUS_OK) {
        submission_refuse_for_memory(submission);
        return;
    }
    desk_change_send(change);
    submission_end(submission);
}

static void fill_job(const struct submission *submission, struct job *job)
{
    const struct ask *ask = submission->ask;
    job->tenant = ask->tenant;
    job->priority = ask->parameters.priority;
    job->verify = ask->parameters.verify;
    job->parse_s = ask->parse_s;
    job->report.input = ask->input;
    memcpy(job->report.traceparent, ask->traceparent, sizeof(ask->traceparent));
    job->deadline_s = ask->parameters.deadline_s;
    if (job->deadline_s > 0) {
        job->deadline_at_s = clock_monotonic_s() + job->deadline_s;
    }
    memcpy(job->idempotency_key, ask->idempotency_key, sizeof(job->idempotency_key));
    submission_print_fingerprint(submission, job->fingerprint, sizeof(job->fingerprint));
}

/* Into the table, not yet accepted; done at once when the result is there. */
static enum status add_job(struct submission *submission, struct graph_entry *entry,
                           struct job **ret_job)
{
    struct desk *desk = submission->desk;
    struct job *job;
    enum status status = job_create(entry->row.id, submission->kind, clock_wall_s(), &job);
    if (status != STATUS_OK) {
        return status;
    }
    fill_job(submission, job);
    if (desk_finish_is_known(desk, entry, job)) {
        desk_finish_as_known(desk, job);
    }
    struct job *added = job;
    status = job_table_add(desk->jobs, &job);
    if (status != STATUS_OK) {
        job_destroy(job);
        return status;
    }
    *ret_job = added;
    return STATUS_OK;
}

static void send_job(struct submission *submission, struct graph_entry *entry, struct job *job)
{
    struct desk *desk = submission->desk;
    struct desk_change *change = NULL;
    enum status status = create_change(submission, entry, job_stored, &change);
    if (status == STATUS_OK) {
        status = desk_change_add_job(change, job);
    }
    if (status != STATUS_OK) {
        desk_change_destroy(change);
        job_table_remove(desk->jobs, job);
        submission_refuse_for_memory(submission);
        return;
    }
    if (job->state == JOB_QUEUED) {
        desk_dispatch_pledge(job, entry->row.vertex_count);
        entry->active_jobs++;
        desk_room_promise(desk, job, entry->row.vertex_count);
        submission->reserved = false; /* the job's now */
    }
    submission->ask->next_waiter = NULL;
    job->acceptors = submission->ask;
    desk_change_send(change);
    submission_end(submission);
}

static enum status check_room(struct submission *submission, const struct graph_entry *entry)
{
    /* What is written is not free any more. */
    const uint64_t bytes = submission->draft.begun ? 0 : graph_bytes(submission, entry);
    size_t result_bytes = SIZE_MAX;
    const enum status status = desk_room_check(submission->desk, entry->row.vertex_count,
                                               submission->kind, bytes, &submission->problem);
    if (status != STATUS_OK ||
        result_file_size(entry->row.vertex_count, submission->kind, &result_bytes) != STATUS_OK) {
        return status;
    }
    return check_quota(submission, entry, result_bytes);
}

static void accept_job(struct submission *submission, struct graph_entry *entry)
{
    struct job *job;
    if (add_job(submission, entry, &job) != STATUS_OK) {
        submission_refuse_for_memory(submission);
        return;
    }
    if (job->state == JOB_QUEUED && check_room(submission, entry) != STATUS_OK) {
        job_table_remove(submission->desk->jobs, job);
        submission_refuse(submission, &submission->problem);
        return;
    }
    if (job->state == JOB_QUEUED && submission_reserve(submission) != STATUS_OK) {
        job_table_remove(submission->desk->jobs, job);
        submission_refuse(submission, &submission->problem);
        return;
    }
    send_job(submission, entry, job);
}

/* A repeated request has its answer already, or soon. */
static bool is_repeat(struct submission *submission)
{
    struct ask *ask = submission->ask;
    struct desk *desk = submission->desk;
    struct job *job = job_table_find_key(desk->jobs, ask->tenant, ask->idempotency_key);
    if (ask->kind != ASK_SUBMIT || job == NULL) {
        return false;
    }
    char fingerprint[sizeof(job->fingerprint)];
    submission_print_fingerprint(submission, fingerprint, sizeof(fingerprint));
    if (strcmp(fingerprint, job->fingerprint) != 0) {
        desk_answer_status(ask, STATUS_IDEMPOTENCY_MISMATCH,
                           "This Idempotency-Key was used for another request.");
    } else if (job->accepted) {
        desk_wait(desk, ask, job);
    } else {
        ask->next_waiter = job->acceptors;
        job->acceptors = ask;
    }
    submission_end(submission);
    return true;
}

/* Devices differ by kind in what they hold; the header line was judged by i4. */
static enum status check_size(struct submission *submission, uint32_t vertex_count)
{
    const uint32_t quota = submission->ask->quota.vertex_limit;
    uint32_t limit = submission->desk->vertex_limit[submission->kind];
    const bool by_quota = quota > 0 && quota < limit;
    limit = by_quota ? quota : limit;
    if (submission->ask->kind == ASK_STORE_GRAPH || vertex_count <= limit) {
        return STATUS_OK;
    }
    problem_set(&submission->problem, STATUS_TOO_LARGE,
                "%u vertices in kind %s are more than this service can hold.", vertex_count,
                kind_name(submission->kind));
    problem_limit(&submission->problem, limit, vertex_count);
    problem_hint(&submission->problem, "The limit comes from %s.",
                 by_quota ? "this key" : submission->desk->admission.limit_reason);
    return STATUS_TOO_LARGE;
}

static struct graph_entry *find_or_add_entry(struct submission *submission)
{
    struct graph_table *graphs = submission->desk->graphs;
    struct graph_entry *entry = graph_table_find_id(graphs, submission->graph_id);
    if (entry == NULL && submission->graph != NULL) {
        struct graph_row row;
        fill_graph_row(submission, &row);
        return graph_table_add(graphs, submission->ask->tenant, &row, &entry) == STATUS_OK ? entry
                                                                                           : NULL;
    }
    return entry;
}

static void accept_with_entry(struct submission *submission)
{
    struct graph_entry *entry = find_or_add_entry(submission);
    if (entry == NULL) {
        submission_refuse_for_memory(submission);
        return;
    }
    struct graph_table *graphs = submission->desk->graphs;
    if (check_size(submission, entry->row.vertex_count) != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
    } else if (submission->ask->kind == ASK_STORE_GRAPH) {
        accept_graph(submission, entry);
    } else {
        accept_job(submission, entry);
    }
    graph_table_drop(graphs, entry);
}

void desk_accept(struct submission *submission)
{
    struct desk *desk = submission->desk;
    struct graph_entry *entry = graph_table_find_id(desk->graphs, submission->graph_id);
    if (entry != NULL && entry->deleting) {
        submission->next = desk->parked;
        desk->parked = submission;
        return;
    }
    /* A stored graph that was deleted meanwhile; also when another upload of it is under way. */
    if (submission->graph == NULL && (entry == NULL || !entry->committed)) {
        desk_answer_no_such(submission->ask);
        submission_end(submission);
        return;
    }
    if (!is_repeat(submission)) {
        accept_with_entry(submission);
    }
}

void desk_accept_unpark(struct desk *desk, const char *graph_id)
{
    struct submission *rest = desk->parked;
    desk->parked = NULL;
    while (rest != NULL) {
        struct submission *submission = rest;
        rest = submission->next;
        if (strcmp(submission->graph_id, graph_id) == 0) {
            desk_accept(submission);
        } else {
            submission->next = desk->parked;
            desk->parked = submission;
        }
    }
}
