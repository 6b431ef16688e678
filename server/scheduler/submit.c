#include "server/scheduler/submit.h"

#include "server/clock.h"
#include "server/scheduler/accept.h"
#include "server/scheduler/answer.h"
#include "server/scheduler/change.h"
#include "server/scheduler/coordinates.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/waiters.h"
#include "server/store/graph_file.h"
#include "server/store/identity.h"

#include <stdlib.h>
#include <string.h>

/* Creates a submission. If memory runs out, answers the call and returns NULL. */
static struct submission *begin_submission(struct scheduler *scheduler, struct call *call)
{
    struct submission *submission = calloc(1, sizeof(*submission));
    if (submission == NULL) {
        answer_not_stored(call, STATUS_NO_MEMORY);
        return NULL;
    }
    submission->scheduler = scheduler;
    submission->call = call;
    submission->tenant = call->tenant;
    submission->share = upload_memory_move(&call->submit.share);
    scheduler->submissions++;
    return submission;
}

void submit_end(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    ledger_release(scheduler, submission->tenant, &submission->held, submission->held);
    scheduler->submissions--;
    if (submission->source == SUBMISSION_CHANGE) {
        struct submission_change *change = &submission->change;
        names_end_move(scheduler, &change->move);
        names_delete_old_graph(scheduler, change->parent_id);
        free(change->arcs);
    } else {
        reader_destroy(submission->reader);
    }
    upload_memory_release(&submission->share);
    graph_destroy(submission->graph);
    hierarchy_destroy_shape(submission->look.shape);
    if (submission->coordinates.bytes > 0) {
        draft_file_finish(&submission->coordinates_file);
    }
    free(submission);
}

void submit_end_with(struct submission *submission, enum status status)
{
    if (status != STATUS_OK && submission->problem.status != status) {
        problem_set(&submission->problem, status, "There is not enough memory for the request.");
    }
    if (status != STATUS_OK) {
        submission->call->problem = submission->problem;
        answer_problem(submission->call);
    }
    submit_end(submission);
}

enum status submit_check_place(struct submission *submission)
{
    const struct scheduler *scheduler = submission->scheduler;
    return tenant_check_queue(&scheduler->admission, ledger_free_places(scheduler),
                              scheduler->config->queue_limit, submission->tenant,
                              &submission->call->quota, &submission->problem);
}

/* Reserves a place in the queue until the submission ends or its job is queued. */
static enum status reserve_place(struct submission *submission)
{
    if (submission->held.queue_places == 0) {
        STATUS_TRY(submit_check_place(submission));
        ledger_reserve(submission->scheduler, submission->tenant, &submission->held,
                       (struct capacity){.queue_places = 1});
    }
    return STATUS_OK;
}

void submit_park(struct submission *submission)
{
    STAILQ_INSERT_TAIL(&submission->scheduler->parked, submission, in_parked);
}

/* Returns whether the client refers to the graph itself, by an upload, an ID or a name. Such a
 * graph is not deleted automatically, even if it was created by changing a named graph. */
static bool asks_for_graph(const struct submission *submission, const struct graph_entry *entry)
{
    const struct call *call = submission->call;
    if (submission->source == SUBMISSION_CHANGE) {
        return submission->change.name[0] == '\0';
    }
    return submission->graph != NULL || call->submit.parameters.name[0] != '\0' ||
           (call->kind == CALL_SUBMIT && strcmp(call->key, entry->row.id) == 0);
}

/* Creates a commit and moves the graph into it. job: the new job or NULL. If the job will move the
 * name, the commit does not assign it. */
static enum status create_commit(struct submission *submission, struct graph_entry *entry,
                                 const struct job *job, void (*then)(struct commit *commit),
                                 struct commit **ret_commit)
{
    struct commit *commit;
    STATUS_TRY(commit_create(submission->scheduler, then, &commit));
    const char *name = submission->call->submit.parameters.name;
    const bool is_named = name[0] != '\0' && (job == NULL || job->report.moves[0] == '\0');
    const bool is_kept = entry->row.of_name && asks_for_graph(submission, entry);
    entry->row.of_name &= !is_kept;
    commit->call = submission->call;
    commit->entry = entry;
    commit->graph = submission->graph;
    submission->graph = NULL;
    if (job != NULL && job->report.result.form == RESULT_FORM_HIERARCHY &&
        submission->scheduler->config->isolation ==
            WORKER_THREAD) { /* a worker process computes the shape itself */
        commit->shape = submission->look.shape;
        submission->look.shape = NULL;
    }
    commit->share = upload_memory_move(&submission->share);
    const bool has_file = entry->state != GRAPH_STORED && commit->graph != NULL;
    commit->keeps_graph = has_file || is_kept;
    if (commit->keeps_graph) {
        struct store_op *op = store_add_op(&commit->change, STORE_PUT_GRAPH);
        op->graph.row = entry->row;
        op->graph.graph = has_file ? commit->graph : NULL;
    }
    if (is_named) {
        commit_add_name(commit, name, entry->row.id, entry->row.tenant);
    }
    *ret_commit = commit;
    return STATUS_OK;
}

/* Adds the copied coordinates, unless the graph has its own or a commit is changing them. */
static void give_coordinates(struct submission *submission, struct commit *commit)
{
    if (submission->coordinates.bytes > 0 && commit->entry->coordinates.bytes == 0 &&
        commit->entry->changes == 0) {
        struct store_op *op = store_add_op(&commit->change, STORE_ADD_COORDINATES);
        memcpy(op->coordinates.graph_id, commit->entry->row.id, sizeof(commit->entry->row.id));
        op->coordinates.file = submission->coordinates_file;
        commit->coordinates = submission->coordinates;
        graph_entry_set_coordinates(commit->entry, &submission->coordinates);
        submission->coordinates.bytes = 0;
    }
}

/* Returns the bytes of the graph's file if it must be written, else 0. */
static uint64_t file_bytes(const struct submission *submission, const struct graph_entry *entry)
{
    const struct graph *graph = submission->graph;
    if (graph == NULL || entry->state == GRAPH_STORED) {
        return 0;
    }
    return ledger_graph_bytes(graph->vertex_count, graph->edge_count, graph->weight_type) +
           vertex_names_encoded_size(graph->names);
}

static enum status accept_graph(struct submission *submission, struct graph_entry *entry)
{
    struct commit *commit;
    if (entry->state == GRAPH_STORED && !entry->row.of_name &&
        submission->call->submit.parameters.name[0] == '\0') {
        answer_graph(submission->call, entry, 200);
        return STATUS_OK;
    }
    if (submission->scheduler->ledger.is_full) {
        return problem_set(&submission->problem, STATUS_DISK_FULL,
                           "There is not enough disk space; nothing was stored.");
    }
    STATUS_TRY(tenant_check_bytes(submission->tenant, &submission->call->quota,
                                  file_bytes(submission, entry), &submission->problem));
    STATUS_TRY(create_commit(submission, entry, NULL, accept_stored_graph, &commit));
    commit_send(commit);
    return STATUS_OK;
}

/* Prints a digest of the request, to detect another request with the same Idempotency-Key. */
static enum status print_fingerprint(const struct submission *submission,
                                     char ret_text[FINGERPRINT_SIZE])
{
    const struct call *call = submission->call;
    const struct job_parameters *parameters = &call->submit.parameters;
    const bool is_change = submission->source == SUBMISSION_CHANGE;
    const char *graph = is_change ? call->key : submission->graph_id;
    const enum result_form form = is_change ? submission->change.asked_form : parameters->form;
    const struct identity_part parts[] = {
        {graph, strlen(graph)},
        {call->submit.changes.digest, is_change ? sizeof(call->submit.changes.digest) : 0},
        {&parameters->kind, sizeof(parameters->kind)},
        {&parameters->priority, sizeof(parameters->priority)},
        {&parameters->deadline_s, sizeof(parameters->deadline_s)},
        {&form, sizeof(form)},
        {&parameters->verify, sizeof(parameters->verify)},
        {parameters->name, strlen(parameters->name)},
    };
    unsigned char digest[IDENTITY_DIGEST_SIZE];
    STATUS_TRY(identity_of_parts(parts, sizeof(parts) / sizeof(parts[0]), digest));
    for (size_t i = 0; i < FINGERPRINT_SIZE / 2; i++) {
        snprintf(ret_text + 2 * i, 3, "%02x", digest[i]);
    }
    return STATUS_OK;
}

/* Returns the graph that is to lose the requested name to `entry`, or NULL if there is none. */
static const struct graph_entry *find_loser(const struct submission *submission,
                                            const struct graph_entry *entry)
{
    const struct graph_entry *owner =
        graph_table_find(&submission->scheduler->graphs, submission->tenant,
                         submission->call->submit.parameters.name);
    return owner != entry ? owner : NULL;
}

static enum status create_job(struct submission *submission, struct graph_entry *entry,
                              struct job **ret_job)
{
    struct call *call = submission->call;
    char fingerprint[FINGERPRINT_SIZE];
    struct job *job;
    STATUS_TRY(print_fingerprint(submission, fingerprint));
    STATUS_TRY(job_create(entry->row.id, submission->kind, clock_wall_s(), &job));
    memcpy(job->row.fingerprint, fingerprint, sizeof(fingerprint));
    job->number = submission->scheduler->jobs.last_number + 1;
    job->tenant = call->tenant;
    job->graph = entry;
    job->quota_bytes = call->quota.stored_bytes;
    job_set_graph(job, entry->row.vertex_count, &entry->row.summary);
    job->row.priority = call->submit.parameters.priority;
    job->row.verify = call->submit.parameters.verify;
    job->parse_s = call->submit.parse_s;
    job->look_s = submission->look.seconds;
    job->is_look_fresh = submission->look.is_fresh;
    job->report.input = input_report_print(&call->submit.input);
    job->report.warnings = call->submit.warnings;
    call->submit.warnings = NULL;
    memcpy(job->report.traceparent, call->traceparent, sizeof(call->traceparent));
    if (submission->source == SUBMISSION_CHANGE) {
        struct submission_change *change = &submission->change;
        job->report.result = change->inherited;
        memcpy(job->report.parent, change->parent_id, sizeof(change->parent_id));
        memcpy(job->report.moves, change->name, sizeof(change->name));
        job->arcs = change->arcs;
        job->arc_count = change->arc_count;
        change->arcs = NULL;
    } else if (find_loser(submission, entry) != NULL) {
        memcpy(job->report.moves, call->submit.parameters.name, sizeof(job->report.moves));
    }
    job->report.result.form = call->submit.parameters.form;
    job->row.deadline_s = call->submit.parameters.deadline_s;
    if (job->row.deadline_s > 0) {
        job->deadline_at_s = clock_monotonic_s() + job->row.deadline_s;
    }
    memcpy(job->row.idempotency_key, call->submit.idempotency_key,
           sizeof(job->row.idempotency_key));
    *ret_job = job;
    return STATUS_OK;
}

/* Chooses the form, checks the space for result and graph, and reserves a place in the queue. */
static enum status check_capacity(struct submission *submission, const struct graph_entry *entry,
                                  struct job *job)
{
    const struct form_question question = {
        .tenant = submission->tenant,
        .quota = &submission->call->quota,
        .vertex_count = entry->row.vertex_count,
        .edge_count = entry->row.edge_count,
        .cost = job->cost,
        .graph_bytes = file_bytes(submission, entry) +
                       (entry->coordinates.bytes == 0 ? submission->coordinates.bytes : 0),
        .look = submission->look};
    STATUS_TRY(choose_result_form(submission->scheduler, &question, &job->report.result,
                                  &submission->problem));
    return reserve_place(submission);
}

/* Creates the job and its commit, and adds the job, which is not accepted yet, to the table. If its
 * result already exists, the job is done. On failure the caller destroys them. */
static enum status prepare_job(struct submission *submission, struct graph_entry *entry,
                               struct job **ret_job, struct commit **ret_commit)
{
    struct scheduler *scheduler = submission->scheduler;
    STATUS_TRY(create_job(submission, entry, ret_job));
    if (results_is_known(*ret_job)) {
        results_end_known_job(*ret_job);
    } else {
        STATUS_TRY(check_capacity(submission, entry, *ret_job));
    }
    STATUS_TRY(create_commit(submission, entry, *ret_job, accept_stored_job, ret_commit));
    names_add_row(scheduler, *ret_job, *ret_commit);
    STATUS_TRY(commit_add_job(*ret_commit, *ret_job));
    return job_table_add(&scheduler->jobs, ret_job);
}

static enum status accept_job(struct submission *submission, struct graph_entry *entry)
{
    struct scheduler *scheduler = submission->scheduler;
    struct job *job = NULL;
    struct commit *commit = NULL;
    const enum status status = prepare_job(submission, entry, &job, &commit);
    if (status != STATUS_OK) {
        commit_destroy(commit);
        job_destroy(job);
        return status;
    }
    job = commit->job;
    if (job->row.state == JOB_QUEUED) {
        entry->active_jobs++;
        job->held = submission->held;
        submission->held = (struct capacity){0};
        ledger_reserve_result(scheduler, job, entry->row.edge_count);
    }
    LIST_INSERT_HEAD(&job->acceptors, submission->call, of_job);
    if (submission->source == SUBMISSION_CHANGE) {
        names_end_move(scheduler, &submission->change.move);
    }
    names_begin_move(scheduler, &job->move, job->tenant, job->report.moves);
    give_coordinates(submission, commit);
    commit_send(commit);
    return STATUS_OK;
}

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
    if (submission->source == SUBMISSION_CHANGE) {
        memcpy(row.parent, submission->change.parent_id, sizeof(row.parent));
        row.of_name = submission->change.name[0] != '\0';
    }
    return graph_table_add(&submission->scheduler->graphs, submission->tenant, &row, ret_entry);
}

/* Checks If-Match and If-None-Match of a name. A name that is about to move has no tag, because its
 * new graph is not known yet. */
static enum status check_conditions(struct submission *submission, const struct graph_entry *owner)
{
    const struct call *call = submission->call;
    const char *name = call->submit.parameters.name;
    char tag[GRAPH_ID_SIZE + 2] = "";
    if (submission->source == SUBMISSION_CHANGE) {
        return STATUS_OK; /* the condition was checked when the change began */
    }
    if (name[0] == '\0' && call->if_match[0] != '\0' && strcmp(call->if_match, "*") != 0) {
        return problem_set(&submission->problem, STATUS_PRECONDITION_FAILED,
                           "If-Match needs a named graph, but name= is missing.");
    }
    if (name[0] == '\0' || (call->if_match[0] == '\0' && call->if_none_match[0] == '\0')) {
        return STATUS_OK;
    }
    if (owner != NULL) {
        snprintf(tag, sizeof(tag), "\"%s\"", owner->row.id);
    }
    const bool is_moving = names_is_moving(submission->scheduler, submission->tenant, name);
    const bool is_right = !is_moving &&
                          (call->if_match[0] == '\0' ||
                           (owner != NULL && text_lists_tag(call->if_match, tag, false))) &&
                          (owner == NULL || !text_lists_tag(call->if_none_match, tag, false));
    if (is_right) {
        return STATUS_OK;
    }
    return problem_refuse(&submission->problem, STATUS_PRECONDITION_FAILED,
                          "Send GET /v1/graphs/{name}, and use the ETag of the response.",
                          is_moving ? "The name %s is about to move to the graph of another job."
                          : owner != NULL ? "The name %s now belongs to graph %s."
                                          : "The name %s belongs to no graph.",
                          name, owner != NULL ? owner->row.id : "");
}

/* Warns if the kind rounds digits, or a change of weights needs a wider kind or more decimals. */
static void warn_of_kind(struct submission *submission, const struct graph_summary *summary)
{
    const enum kind kind = submission->kind;
    const uint32_t digits = graph_digits(summary);
    const struct scaling now = graph_scaling(summary, kind);
    if (kind == KIND_F4 && digits > GRAPH_DIGITS_F4) {
        warning_hint(
            warning_add(
                &submission->warnings, WARNING_ROUNDED,
                "A distance may have %u digits; kind f4 keeps %u, so the last %u are rounded away.",
                digits, GRAPH_DIGITS_F4, digits - GRAPH_DIGITS_F4),
            "kind=f8 keeps all digits.");
    }
    if (submission->source != SUBMISSION_CHANGE) {
        return;
    }
    const struct scaling was = submission->change.scaling;
    const enum kind old_kind = submission->call->submit.changes.kind;
    if (kind_size(kind) > kind_size(old_kind) || summary->decimals > submission->change.decimals) {
        warning_hint(
            warning_add(
                &submission->warnings, WARNING_KIND_CHANGED,
                "The kind follows the weights: it is now %s, computed as %s; the previous kind was "
                "%s, computed as %s.",
                kind_name(kind), graph_scaling_text(now).text, kind_name(old_kind),
                graph_scaling_text(was).text),
            summary->decimals == NO_DECIMALS ? "Sums are rounded to doubles." : "Sums stay exact.");
    }
}

/* Refuses the name if the graph has too many names, and warns if another graph has this name.
 * Prints all warnings. */
static enum status check_name(struct submission *submission, const struct graph_entry *entry)
{
    struct call *call = submission->call;
    const char *name = call->submit.parameters.name;
    const struct graph_entry *owner =
        graph_table_find(&submission->scheduler->graphs, submission->tenant, name);
    const struct graph_entry *loser = find_loser(submission, entry);
    STATUS_TRY(check_conditions(submission, owner));
    if (name[0] != '\0' && owner != entry && entry->name_count >= GRAPH_NAMES_MAX) {
        return problem_refuse_limit(&submission->problem, STATUS_BAD_PARAMETER, GRAPH_NAMES_MAX,
                                    (double)entry->name_count + 1,
                                    "Omit name=, because the graph can also be found by its ID.",
                                    "The graph has too many names.");
    }
    if (loser != NULL) {
        const bool is_solved = call->kind != CALL_STORE_GRAPH;
        warning_hint(
            warning_add(&submission->warnings, WARNING_NAME_MOVED,
                        is_solved ? "When the job is done, the name %s moves from graph %s to this "
                                    "graph; if the job fails, the name stays where it is."
                                  : "The name %s has moved from graph %s to this graph.",
                        name, loser->row.id),
            loser->row.of_name ? "The previous graph was created by changing the edges of a named "
                                 "graph, so it is deleted when the name moves."
                               : "The previous graph can still be found by its ID. Use a "
                                 "different name= to give each graph its own name.");
    }
    if (call->kind != CALL_STORE_GRAPH) {
        warn_of_kind(submission, &entry->row.summary);
    }
    if (submission->warnings.count > 0) {
        call->submit.warnings = warning_print(&submission->warnings);
    }
    return submission->warnings.count > 0 && call->submit.warnings == NULL ? STATUS_NO_MEMORY
                                                                           : STATUS_OK;
}

/* Accepts the submission. *entry: the graph's entry; NULL for a new graph, which gets one. */
static enum status accept_new(struct submission *submission, struct graph_entry **entry)
{
    if (*entry == NULL) {
        STATUS_TRY(add_entry(submission, entry));
    }
    STATUS_TRY(check_name(submission, *entry));
    return submission->call->kind == CALL_STORE_GRAPH ? accept_graph(submission, *entry)
                                                      : accept_job(submission, *entry);
}

void submit_answer_repeat(struct submission *submission, struct job *earlier)
{
    struct call *call = submission->call;
    char fingerprint[FINGERPRINT_SIZE];
    if (print_fingerprint(submission, fingerprint) != STATUS_OK) {
        answer_not_stored(call, STATUS_NO_MEMORY);
    } else if (strcmp(fingerprint, earlier->row.fingerprint) != 0) {
        answer_status(call, STATUS_IDEMPOTENCY_MISMATCH,
                      "This Idempotency-Key was used for another request.");
    } else if (earlier->durability != JOB_ACCEPTING) {
        waiters_hold(submission->scheduler, call, earlier);
    } else {
        LIST_INSERT_HEAD(&earlier->acceptors, call, of_job);
    }
    submit_end(submission);
}

struct job *submit_find_repeated(const struct submission *submission)
{
    const struct call *call = submission->call;
    return call->kind != CALL_STORE_GRAPH
               ? job_table_find_key(&submission->scheduler->jobs, call->tenant,
                                    call->submit.idempotency_key)
               : NULL;
}

/* Measures the graph on a pool thread. If its file is unreadable the worker reports that later. */
static void look_at_graph(struct pool_work *work)
{
    struct submission *submission = (struct submission *)work;
    struct scheduler *scheduler = submission->scheduler;
    struct graph *stored = NULL;
    if (submission->graph == NULL && graph_file_read(store_folder(scheduler->store, STORE_GRAPHS),
                                                     submission->graph_id, &stored) != STATUS_OK) {
        return;
    }
    form_look_run(scheduler, submission->tenant->name,
                  submission->graph != NULL ? submission->graph : stored, submission->kind,
                  &submission->look);
    graph_destroy(stored);
}

static void accept_submission(struct submission *submission);

static void graph_looked_at(struct pool_work *work)
{
    struct submission *submission = (struct submission *)work;
    if (submission->scheduler->stage != SCHEDULER_SERVES && submission->look.state == FORM_UNSEEN) {
        submit_end_with(submission,
                        problem_set(&submission->problem, STATUS_DRAINING,
                                    "The service is shutting down; nothing was stored."));
    } else {
        accept_submission(submission);
    }
}

/* Starts measuring a large graph to choose the form of its result, unless the result exists or a
 * change has inherited the form from the parent. Returns whether the measurement has started. */
static bool start_look(struct submission *submission, const struct graph_entry *entry)
{
    struct scheduler *scheduler = submission->scheduler;
    const struct job_parameters *parameters = &submission->call->submit.parameters;
    const struct graph *graph = submission->graph;
    const struct result *known = entry != NULL ? entry->results[submission->kind].result : NULL;
    if (submission->look.is_done || submission->call->kind == CALL_STORE_GRAPH ||
        (submission->source == SUBMISSION_CHANGE &&
         submission->change.inherited.form != RESULT_FORM_AUTO) ||
        (known != NULL && !parameters->verify &&
         (parameters->form == RESULT_FORM_AUTO || parameters->form == result_form(known))) ||
        !form_look_begin(
            scheduler, parameters->form,
            graph_cost(graph != NULL ? &graph->summary : &entry->row.summary, submission->kind),
            graph != NULL ? graph->vertex_count : entry->row.vertex_count,
            graph != NULL ? graph->edge_count : entry->row.edge_count, &submission->look)) {
        return false;
    }
    submission->work.run = look_at_graph;
    submission->work.then = graph_looked_at;
    pool_queue(scheduler, submission->tenant, graph != NULL ? POOL_UPLOAD : POOL_STORED,
               &submission->work);
    return true;
}

/* Accepts or refuses the submission, once the graph has an ID and its kind is resolved. Waits until
 * no other commit assigns the name, so that the graph that loses the name is known. */
static void accept_submission(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, submission->graph_id);
    struct job *earlier = submit_find_repeated(submission);
    const char *name = submission->source == SUBMISSION_CHANGE
                           ? submission->change.name
                           : submission->call->submit.parameters.name;
    if ((entry != NULL && entry->state == GRAPH_DELETING) ||
        (earlier == NULL && commit_names(scheduler, submission->tenant, name))) {
        submit_park(submission);
    } else if (submission->graph == NULL && (entry == NULL || entry->state == GRAPH_ACCEPTING)) {
        /* The stored graph was deleted meanwhile. A new upload of it is not accepted yet. */
        answer_no_such(submission->call);
        submit_end(submission);
    } else if (earlier != NULL) {
        submit_answer_repeat(submission, earlier);
    } else if (!start_look(submission, entry)) {
        submit_end_with(submission, accept_new(submission, &entry));
        if (entry != NULL) {
            graph_table_drop(&scheduler->graphs, entry);
        }
    }
}

static enum status finish_upload(struct submission *submission)
{
    struct input_report *report = &submission->call->submit.input;
    const enum status status =
        reader_finish(submission->reader, &submission->graph, &submission->problem);
    if (status == STATUS_OK) {
        submission->warnings = submission->reader->notes.warnings;
        input_report_complete(report, &submission->reader->notes, submission->graph);
        input_report_warn(report, submission->graph, &submission->warnings);
    } else {
        input_report_hint(report, &submission->problem);
    }
    reader_destroy(submission->reader);
    submission->reader = NULL;
    return status;
}

/* Creates the graph and determines its kind, ID and coordinates. */
static enum status finish_graph(struct submission *submission)
{
    const struct call *call = submission->call;
    const bool is_change = submission->source == SUBMISSION_CHANGE;
    struct problem *problem = &submission->problem;
    STATUS_TRY(is_change ? change_finish_graph(submission) : finish_upload(submission));
    if (call->kind != CALL_STORE_GRAPH) {
        const enum kind asked = call->submit.parameters.kind;
        STATUS_TRY(graph_choose_kind(
            submission->graph, is_change && asked == KIND_AUTO ? submission->change.wanted : asked,
            &submission->kind, problem));
    }
    STATUS_TRY(problem_explain(problem,
                               identity_of_graph(submission->graph, call->tenant->name,
                                                 store_secret(submission->scheduler->store),
                                                 submission->graph_id),
                               "The ID of the graph cannot be computed."));
    return submission->placed_id[0] != '\0' ? coordinates_copy(submission) : STATUS_OK;
}

/* Finishes a graph. Runs on a pool thread, because sorting and hashing a large graph takes long. */
static void run_finish(struct pool_work *work)
{
    struct submission *submission = (struct submission *)work;
    const double began_s = clock_monotonic_s();
    submission->status = finish_graph(submission);
    submission->call->submit.parse_s += clock_monotonic_s() - began_s;
}

static void graph_finished(struct pool_work *work)
{
    struct submission *submission = (struct submission *)work;
    if (submission->source == SUBMISSION_CHANGE) {
        change_end(submission);
    }
    if (submission->status != STATUS_OK) {
        submit_end_with(submission, submission->status);
    } else {
        accept_submission(submission);
    }
}

void submit_finish_graph(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    const char *name = submission->call->submit.parameters.name;
    const struct graph_entry *placed =
        submission->source == SUBMISSION_CHANGE
            ? submission->change.parent
            : graph_table_find_name(&scheduler->graphs, submission->tenant, name);
    if (placed != NULL) {
        memcpy(submission->placed_id, placed->row.id, sizeof(placed->row.id));
    }
    submission->work.run = run_finish;
    submission->work.then = graph_finished;
    pool_queue(scheduler, submission->tenant,
               submission->source == SUBMISSION_CHANGE ? POOL_STORED : POOL_UPLOAD,
               &submission->work);
}

static void submit_upload(struct submission *submission)
{
    struct call *call = submission->call;
    submission->source = SUBMISSION_UPLOAD;
    submission->reader = call->submit.reader;
    call->submit.reader = NULL;
    /* A repeated request needs no place in the queue, and is verified once the graph is known. */
    const enum status status = call->kind == CALL_SUBMIT && submit_find_repeated(submission) == NULL
                                   ? reserve_place(submission)
                                   : STATUS_OK;
    if (status != STATUS_OK) {
        submit_end_with(submission, status);
    } else {
        submit_finish_graph(submission);
    }
}

/* Resumes parked submissions. Those that still have to wait are parked again in the same order. */
void submit_parked(struct scheduler *scheduler)
{
    STAILQ_HEAD(, submission) parked = STAILQ_HEAD_INITIALIZER(parked);
    STAILQ_CONCAT(&parked, &scheduler->parked);
    while (!STAILQ_EMPTY(&parked)) {
        struct submission *submission = STAILQ_FIRST(&parked);
        STAILQ_REMOVE_HEAD(&parked, in_parked);
        if (submission->source == SUBMISSION_CHANGE && submission->change.parent == NULL) {
            change_begin(submission);
        } else {
            accept_submission(submission);
        }
    }
}

static void submit_stored(struct submission *submission, const struct graph_entry *entry,
                          enum kind kind)
{
    const enum status status =
        graph_entry_choose_kind(entry, kind, &submission->kind, &submission->problem);
    memcpy(submission->graph_id, entry->row.id, sizeof(submission->graph_id));
    if (status != STATUS_OK) {
        submit_end_with(submission, status);
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
    const bool is_upload = call->kind == CALL_STORE_GRAPH ||
                           (call->kind == CALL_SUBMIT && call->submit.reader != NULL);
    struct graph_entry *entry = is_upload ? NULL : answer_find_graph(scheduler, call);
    if (!is_upload && entry == NULL) {
        answer_no_such(call);
        return;
    }
    struct submission *submission = begin_submission(scheduler, call);
    if (submission != NULL && call->kind == CALL_CHANGE) {
        submission->source = SUBMISSION_CHANGE;
        submission->change.asked_form = call->submit.parameters.form;
        change_begin(submission);
    } else if (submission != NULL && is_upload) {
        submit_upload(submission);
    } else if (submission != NULL) {
        submit_stored(submission, entry, call->submit.parameters.kind);
    }
}
