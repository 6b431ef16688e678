#include "server/clock.h"
#include "server/job/scheduler_internal.h"
#include "server/store/identity.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* An upload or a submission between its call and its durable change. Owned by the loop, lent to a
 * thread of libuv's pool while the graph is finished and named there. */
struct submission {
    uv_work_t request;
    struct scheduler *scheduler;
    struct call *call;
    struct tenant *tenant; /* of the call */
    struct reader *reader; /* owned; NULL for a stored graph */
    struct graph *graph;   /* owned; NULL for a stored graph */
    struct upload_share share;
    char graph_id[GRAPH_ID_SIZE];
    enum kind kind; /* resolved */
    enum status status;
    struct problem problem;
    struct warnings warnings; /* about the upload */
    struct capacity held;     /* a place in the queue */
    struct submission *next;  /* parked behind this one */
};

/* NULL, with the call answered, when out of memory. */
static struct submission *begin_submission(struct scheduler *scheduler, struct call *call)
{
    struct submission *submission = calloc(1, sizeof(*submission));
    if (submission == NULL) {
        answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        return NULL;
    }
    submission->scheduler = scheduler;
    submission->call = call;
    submission->tenant = call->tenant;
    submission->share = capacity_move_share(&call->share);
    scheduler->submissions++;
    return submission;
}

static void end_submission(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    capacity_release(scheduler, submission->tenant, &submission->held, submission->held);
    scheduler->submissions--;
    capacity_release_share(&submission->share);
    reader_destroy(submission->reader);
    graph_destroy(submission->graph);
    free(submission);
}

/* The status is that of the submission's problem, or want of memory. */
static void refuse_submission(struct submission *submission, enum status status)
{
    if (submission->problem.status != status) {
        problem_set(&submission->problem, status, "There is not enough memory for the request.");
    }
    answer_problem(submission->call, &submission->problem);
    end_submission(submission);
}

/* A place in the queue, held until the submission ends or its job is queued. */
static enum status reserve_place(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    if (submission->held.queue_places > 0) {
        return STATUS_OK;
    }
    const enum status status = capacity_check_queue(
        &scheduler->admission, capacity_free_places(scheduler), scheduler->config->queue_limit,
        submission->tenant, &submission->call->quota, &submission->problem);
    if (status == STATUS_OK) {
        capacity_reserve(scheduler, submission->tenant, &submission->held,
                         (struct capacity){.queue_places = 1});
    }
    return status;
}

/* ---- Acceptance: the commit has come back ---- */

static void answer_not_stored(struct call *call, enum status status)
{
    answer_status(call, status,
                  status == STATUS_DISK_FULL
                      ? "There is no room on the disk; nothing was kept."
                      : "The state directory cannot be written; nothing was kept.");
}

/* Takes in the end of a commit with a graph, its name, or both. */
static void apply_graph(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    struct graph_entry *entry = commit->entry;
    const char *name = commit->name_row.name;
    if (commit->change.status != STATUS_OK) {
        graph_table_drop(scheduler->graphs, entry);
        return;
    }
    if (commit->change.graph != NULL) {
        entry->row.file_bytes = commit->change.graph_file_bytes;
        entry->damaged = false;
    }
    graph_entry_commit(entry);
    if (name[0] != '\0' && graph_table_name(scheduler->graphs, name, entry) == STATUS_OK) {
        results_bind_name(scheduler, name, entry);
    }
}

static void graph_stored(struct commit *commit)
{
    const bool is_new = commit->change.graph != NULL;
    apply_graph(commit);
    if (commit->change.status == STATUS_OK) {
        answer_graph(commit->call, commit->entry, is_new ? 201 : 200);
    } else {
        answer_not_stored(commit->call, commit->change.status);
    }
}

/* The graph stays in memory for the worker while there is room. */
static void keep_graph(struct scheduler *scheduler, struct job *job, struct graph **take_graph)
{
    const struct graph *graph = *take_graph;
    if (graph == NULL) {
        return;
    }
    const uint64_t bytes =
        capacity_graph_bytes(graph->vertex_count, graph->edge_count, graph->weight_type);
    if (capacity_has_memory(scheduler, bytes)) {
        capacity_reserve(scheduler, job->tenant, &job->held,
                         (struct capacity){.memory_bytes = bytes});
        job->graph = *take_graph;
        *take_graph = NULL;
    }
}

static void job_accepted(struct scheduler *scheduler, struct commit *commit)
{
    struct job *job = commit->job;
    struct call *acceptors = job->acceptors;
    char trace_id[TRACE_ID_SIZE];
    job->acceptors = NULL;
    job->accepted = true;
    memcpy(commit->entry->latest_job, job->id, sizeof(job->id));
    job_trace_id(job, trace_id);
    log_write(LOG_INFO, "job_accepted", LOG_TEXT("job", job->id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("request", commit->call->request_id), LOG_TEXT("graph", job->graph_id),
              LOG_TEXT("kind", kind_name(job->kind)),
              LOG_TEXT("state", job_state_name(job->state)));
    metrics_add(METRIC_JOBS_ACCEPTED, 1);
    if (job->state == JOB_DONE) {
        job->committed = true; /* before the answer, which says so */
        job_table_end(scheduler->jobs, job);
        results_bind_latest(scheduler, job, commit->entry);
    } else {
        keep_graph(scheduler, job, &commit->graph);
        job_queue_push(&scheduler->queue, &job->tenant->share, job);
        answer_watch_deadline(scheduler, job);
    }
    struct call *next;
    for (struct call *call = acceptors; call != NULL; call = next) {
        next = call->next_waiter;
        answer_wait(scheduler, call, job);
    }
}

static void job_stored(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    struct job *job = commit->job;
    const enum status status = commit->change.status;
    capacity_release(scheduler, job->tenant, &job->held,
                     (struct capacity){.queue_places = job->held.queue_places});
    if (status != STATUS_OK && job->state == JOB_QUEUED) {
        commit->entry->active_jobs--;
    }
    apply_graph(commit);
    if (status == STATUS_OK) {
        job_accepted(scheduler, commit);
        return;
    }
    struct call *next;
    for (struct call *call = job->acceptors; call != NULL; call = next) {
        next = call->next_waiter;
        answer_not_stored(call, status);
    }
    job->acceptors = NULL;
    capacity_release(scheduler, job->tenant, &job->held, job->held);
    job_table_remove(scheduler->jobs, job);
}

/* ---- Acceptance: checks and the commit ---- */

/* Adds a name for the graph of the commit's entry; an empty one is none. */
static void add_name(struct commit *commit, const char *name)
{
    const struct graph_entry *entry = commit->entry;
    if (name[0] == '\0') {
        return;
    }
    snprintf(commit->name_row.name, sizeof(commit->name_row.name), "%s", name);
    memcpy(commit->name_row.graph_id, entry->row.id, sizeof(entry->row.id));
    memcpy(commit->name_row.tenant, entry->row.tenant, sizeof(entry->row.tenant));
    commit->change.name_row = &commit->name_row;
}

/* A commit to do with this submission, which moves the graph into it. */
static enum status create_commit(struct submission *submission, struct graph_entry *entry,
                                 void (*then)(struct commit *commit), struct commit **ret_commit)
{
    struct commit *commit;
    const enum status status = scheduler_commit_create(submission->scheduler, then, &commit);
    if (status != STATUS_OK) {
        return status;
    }
    commit->call = submission->call;
    commit->entry = entry;
    add_name(commit, submission->call->parameters.name);
    commit->graph = submission->graph;
    submission->graph = NULL;
    commit->share = capacity_move_share(&submission->share);
    if ((!entry->committed || entry->damaged) && commit->graph != NULL) {
        commit->graph_row = entry->row;
        commit->change.graph = commit->graph;
        commit->change.graph_row = &commit->graph_row;
    }
    *ret_commit = commit;
    return STATUS_OK;
}

/* Bytes of the graph's file, if it is to be written. */
static uint64_t file_bytes(const struct submission *submission, const struct graph_entry *entry)
{
    const struct graph *graph = submission->graph;
    if (graph == NULL || (entry->committed && !entry->damaged)) {
        return 0;
    }
    return capacity_graph_bytes(graph->vertex_count, graph->edge_count, graph->weight_type) +
           vertex_names_encoded_size(graph->names);
}

static void accept_graph(struct submission *submission, struct graph_entry *entry)
{
    struct commit *commit;
    enum status status = STATUS_OK;
    if (entry->committed && !entry->damaged && submission->call->parameters.name[0] == '\0') {
        answer_graph(submission->call, entry, 200);
        end_submission(submission);
        return;
    }
    if (submission->scheduler->capacity.is_full) {
        status = problem_set(&submission->problem, STATUS_DISK_FULL,
                             "There is no room on the disk; nothing was kept.");
    }
    if (status == STATUS_OK) {
        status = capacity_check_bytes(submission->tenant, &submission->call->quota,
                                      file_bytes(submission, entry), &submission->problem);
    }
    if (status == STATUS_OK) {
        status = create_commit(submission, entry, graph_stored, &commit);
    }
    if (status != STATUS_OK) {
        refuse_submission(submission, status);
        return;
    }
    scheduler_commit_send(commit);
    end_submission(submission);
}

/* Tells a repeated request from another one under the same Idempotency-Key. */
static void print_fingerprint(const struct submission *submission, char *text, size_t size)
{
    const struct job_parameters *parameters = &submission->call->parameters;
    uint64_t hash = XXH3_64bits(submission->graph_id, strlen(submission->graph_id));
    hash = XXH3_64bits_withSeed(&parameters->kind, sizeof(parameters->kind), hash);
    hash = XXH3_64bits_withSeed(&parameters->priority, sizeof(parameters->priority), hash);
    hash = XXH3_64bits_withSeed(&parameters->deadline_s, sizeof(parameters->deadline_s), hash);
    hash = XXH3_64bits_withSeed(&parameters->form, sizeof(parameters->form), hash);
    hash = XXH3_64bits_withSeed(&parameters->verify, sizeof(parameters->verify), hash);
    hash = XXH3_64bits_withSeed(parameters->name, strlen(parameters->name), hash);
    snprintf(text, size, "%016llx", (unsigned long long)hash);
}

static enum status create_job(const struct submission *submission, const struct graph_entry *entry,
                              struct job **ret_job)
{
    struct call *call = submission->call;
    struct job *job;
    const enum status status = job_create(entry->row.id, submission->kind, clock_wall_s(), &job);
    if (status != STATUS_OK) {
        return status;
    }
    job->tenant = call->tenant;
    job->vertex_count = entry->row.vertex_count;
    job->priority = call->parameters.priority;
    job->verify = call->parameters.verify;
    job->parse_s = call->parse_s;
    job->report.input = call->input;
    job->report.warnings = call->warnings;
    job->report.result.form = call->parameters.form;
    call->warnings = NULL;
    memcpy(job->report.traceparent, call->traceparent, sizeof(call->traceparent));
    job->deadline_s = call->parameters.deadline_s;
    if (job->deadline_s > 0) {
        job->deadline_at_s = clock_monotonic_s() + job->deadline_s;
    }
    memcpy(job->idempotency_key, call->idempotency_key, sizeof(job->idempotency_key));
    print_fingerprint(submission, job->fingerprint, sizeof(job->fingerprint));
    *ret_job = job;
    return STATUS_OK;
}

/* The form of the result, room for it and the graph, and a place in the queue, which alone is
 * reserved here. */
static enum status check_capacity(struct submission *submission, const struct graph_entry *entry,
                                  struct job *job)
{
    const struct graph_row *row = &entry->row;
    const struct quota *quota = &submission->call->quota;
    struct result_summary *result = &job->report.result;
    uint64_t bytes = file_bytes(submission, entry);
    enum status status = capacity_choose_form(submission->scheduler, quota, row, job->kind, bytes,
                                              result, &submission->problem);
    if (status == STATUS_OK) {
        bytes += capacity_result_bytes(result->form, row->vertex_count, row->edge_count, job->kind);
        status = capacity_check_bytes(submission->tenant, quota, bytes, &submission->problem);
    }
    return status == STATUS_OK ? reserve_place(submission) : status;
}

/* The job is in the table, not yet accepted; it is done at once when the result is there. */
static void accept_job(struct submission *submission, struct graph_entry *entry)
{
    struct scheduler *scheduler = submission->scheduler;
    struct job *job = NULL;
    struct commit *commit = NULL;
    enum status status = create_job(submission, entry, &job);
    if (status == STATUS_OK && results_is_known(scheduler, entry, job)) {
        results_end_known_job(scheduler, job);
    } else if (status == STATUS_OK) {
        status = check_capacity(submission, entry, job);
    }
    if (status == STATUS_OK) {
        status = create_commit(submission, entry, job_stored, &commit);
    }
    if (status == STATUS_OK) {
        status = scheduler_commit_add_job(commit, job);
    }
    struct job *added = job;
    if (status == STATUS_OK) {
        status = job_table_add(scheduler->jobs, &job);
    }
    if (status != STATUS_OK) {
        scheduler_commit_destroy(commit);
        job_destroy(job);
        refuse_submission(submission, status);
        return;
    }
    if (added->state == JOB_QUEUED) {
        entry->active_jobs++;
        added->held = submission->held;
        submission->held = (struct capacity){0};
        capacity_reserve_result(scheduler, added, entry->row.edge_count);
    }
    submission->call->next_waiter = NULL;
    added->acceptors = submission->call;
    scheduler_commit_send(commit);
    end_submission(submission);
}

/* A new entry for a graph that is not known yet. */
static enum status add_entry(struct submission *submission, struct graph_entry **ret_entry)
{
    const struct graph *graph = submission->graph;
    struct graph_row row = {
        .created_s = clock_wall_s(),
        .vertex_count = graph->vertex_count,
        .edge_count = graph->edge_count,
        .directed = graph->directed,
        .summary = graph->summary,
    };
    memcpy(row.id, submission->graph_id, sizeof(row.id));
    memcpy(row.tenant, submission->tenant->name, sizeof(row.tenant));
    return graph_table_add(submission->scheduler->graphs, submission->tenant, &row, ret_entry);
}

/* Refuses one name too many. Prints the warnings for the answer, of which one more is that the name
 * belongs to another graph. */
static enum status check_name(struct submission *submission, const struct graph_entry *entry)
{
    struct call *call = submission->call;
    const char *name = call->parameters.name;
    const struct graph_entry *owner =
        graph_table_find(submission->scheduler->graphs, submission->tenant, name);
    if (name[0] != '\0' && owner != entry && entry->name_count >= GRAPH_NAMES_MAX) {
        problem_set(&submission->problem, STATUS_BAD_PARAMETER, "The graph has names enough.");
        problem_limit(&submission->problem, GRAPH_NAMES_MAX, (double)entry->name_count + 1);
        problem_hint(&submission->problem, "Leave name= out: the graph answers by its id too.");
        return STATUS_BAD_PARAMETER;
    }
    if (owner != NULL && owner != entry) {
        warning_hint(warning_add(&submission->warnings, WARNING_NAME_MOVED,
                                 "The name %s was that of graph %s, which has lost it.", name,
                                 owner->row.id),
                     "That graph still answers by its id; another name= keeps both.");
    }
    if (submission->warnings.count > 0) {
        call->warnings = warning_print(&submission->warnings);
    }
    return submission->warnings.count > 0 && call->warnings == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static void accept_new(struct submission *submission)
{
    struct graph_table *graphs = submission->scheduler->graphs;
    struct graph_entry *entry = graph_table_find_id(graphs, submission->graph_id);
    enum status status = entry == NULL ? add_entry(submission, &entry) : STATUS_OK;
    if (status == STATUS_OK) {
        status = check_name(submission, entry);
    }
    if (status != STATUS_OK) {
        refuse_submission(submission, status);
    } else if (submission->call->kind == CALL_STORE_GRAPH) {
        accept_graph(submission, entry);
    } else {
        accept_job(submission, entry);
    }
    if (entry != NULL) {
        graph_table_drop(graphs, entry);
    }
}

/* A repeated request is answered like the first, once that is accepted. */
static void answer_repeat(struct submission *submission, struct job *earlier)
{
    struct call *call = submission->call;
    char fingerprint[sizeof(earlier->fingerprint)];
    print_fingerprint(submission, fingerprint, sizeof(fingerprint));
    if (strcmp(fingerprint, earlier->fingerprint) != 0) {
        answer_status(call, STATUS_IDEMPOTENCY_MISMATCH,
                      "This Idempotency-Key was used for another request.");
    } else if (earlier->accepted) {
        answer_wait(submission->scheduler, call, earlier);
    } else {
        call->next_waiter = earlier->acceptors;
        earlier->acceptors = call;
    }
    end_submission(submission);
}

static struct job *find_repeated(const struct submission *submission)
{
    const struct call *call = submission->call;
    return call->kind == CALL_SUBMIT ? job_table_find_key(submission->scheduler->jobs, call->tenant,
                                                          call->idempotency_key)
                                     : NULL;
}

/* The graph of the submission has an id and its kind is resolved. Who loses the name is known only
 * once nobody else is given it. */
static void accept_submission(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    struct graph_entry *entry = graph_table_find_id(scheduler->graphs, submission->graph_id);
    struct job *earlier = find_repeated(submission);
    const char *name = submission->call->parameters.name;
    if ((entry != NULL && entry->deleting) ||
        (earlier == NULL && scheduler_commit_names(scheduler, submission->tenant, name))) {
        submission->next = scheduler->parked;
        scheduler->parked = submission;
    } else if (submission->graph == NULL && (entry == NULL || !entry->committed)) {
        /* A stored graph that was deleted meanwhile; also when it is being uploaded again. */
        answer_no_such(submission->call);
        end_submission(submission);
    } else if (earlier != NULL) {
        answer_repeat(submission, earlier);
    } else {
        accept_new(submission);
    }
}

void submit_parked(struct scheduler *scheduler)
{
    struct submission *next = scheduler->parked;
    scheduler->parked = NULL;
    while (next != NULL) {
        struct submission *submission = next;
        next = submission->next;
        accept_submission(submission); /* parks it again behind another deletion */
    }
}

/* ---- Until the graph is known ---- */

/* On a thread of the pool: sorting and hashing a large graph takes long. */
static void finish_graph(uv_work_t *request)
{
    struct submission *submission = request->data;
    struct problem *problem = &submission->problem;
    struct call *call = submission->call;
    const double began_s = clock_monotonic_s();
    enum status status = reader_finish(submission->reader, &submission->graph, problem);
    if (status == STATUS_OK) {
        submission->warnings = reader_notes(submission->reader)->warnings;
        input_report_complete(&call->input, reader_notes(submission->reader), submission->graph);
        input_report_warn(&call->input, submission->graph, &submission->warnings);
    } else {
        input_report_hint(&call->input, problem);
    }
    reader_destroy(submission->reader);
    submission->reader = NULL;
    if (status == STATUS_OK && call->kind == CALL_SUBMIT) {
        status =
            graph_choose_kind(submission->graph, call->parameters.kind, &submission->kind, problem);
    }
    if (status == STATUS_OK) {
        status =
            identity_of_graph(submission->graph, call->tenant->name,
                              store_secret(submission->scheduler->store), submission->graph_id);
        if (status != STATUS_OK) {
            problem_set(problem, status, "The graph cannot be named.");
        }
    }
    submission->status = status;
    call->parse_s += clock_monotonic_s() - began_s;
}

static void graph_finished(uv_work_t *request, int error)
{
    struct submission *submission = request->data;
    CHECK(error == 0); /* nothing cancels it */
    scheduler_wake(submission->scheduler);
    if (submission->status != STATUS_OK) {
        refuse_submission(submission, submission->status);
    } else {
        accept_submission(submission);
    }
}

static void submit_upload(struct submission *submission)
{
    struct call *call = submission->call;
    submission->reader = call->reader;
    call->reader = NULL;
    /* A possible repeat of an earlier request is judged when its graph is known. */
    if (call->kind == CALL_SUBMIT && find_repeated(submission) == NULL) {
        const enum status status = reserve_place(submission);
        if (status != STATUS_OK) {
            refuse_submission(submission, status);
            return;
        }
    }
    submission->request.data = submission;
    CHECK(uv_queue_work(submission->scheduler->loop, &submission->request, finish_graph,
                        graph_finished) == 0);
}

static void submit_stored(struct submission *submission, const struct graph_entry *entry,
                          enum kind kind)
{
    const enum status status =
        graph_entry_choose_kind(entry, kind, &submission->kind, &submission->problem);
    memcpy(submission->graph_id, entry->row.id, sizeof(submission->graph_id));
    if (status != STATUS_OK) {
        refuse_submission(submission, status);
    } else {
        accept_submission(submission);
    }
}

void submit_for_result(struct scheduler *scheduler, struct call *call, struct graph_entry *entry,
                       enum kind kind)
{
    struct submission *submission = begin_submission(scheduler, call);
    if (submission != NULL) {
        submit_stored(submission, entry, kind);
    }
}

void submit_call(struct scheduler *scheduler, struct call *call)
{
    const bool is_upload = call->kind == CALL_STORE_GRAPH || call->reader != NULL;
    struct graph_entry *entry = is_upload ? NULL : answer_find_graph(scheduler, call);
    if (!is_upload && entry == NULL) {
        answer_no_such(call);
        return;
    }
    struct submission *submission = begin_submission(scheduler, call);
    if (submission != NULL && is_upload) {
        submit_upload(submission);
    } else if (submission != NULL) {
        submit_stored(submission, entry, call->parameters.kind);
    }
}
