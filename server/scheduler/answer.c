#include "server/scheduler/answer.h"

#include "proto/text.h"
#include "server/clock.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/submit.h"

#include <string.h>

struct graph_entry *answer_find_graph(const struct scheduler *scheduler, const struct call *call)
{
    struct graph_entry *entry = graph_table_find(&scheduler->graphs, call->tenant, call->key);
    if (entry != NULL) {
        return entry;
    }
    const struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
    return job != NULL ? graph_table_find(&scheduler->graphs, call->tenant, job->row.graph_id)
                       : NULL;
}

/* Returns the call to the HTTP thread. The output members of the call must be set. */
static void hand_back(struct call *call)
{
    struct scheduler *scheduler = call->scheduler;
    call->answered(call);
    /* This comes last, because a shutdown closes suspended connections once the count is 0. */
    atomic_fetch_sub(&scheduler->calls_open, 1);
}

void answer_empty(struct call *call, unsigned http_status)
{
    call->status = STATUS_OK;
    call->http_status = http_status;
    hand_back(call);
}

void answer_problem(struct call *call)
{
    const enum status status = call->problem.status;
    call->status = status;
    call->http_status = status_info(status)->http;
    if (status == STATUS_QUEUE_FULL || status == STATUS_JOB_QUOTA || status == STATUS_DRAINING) {
        call->retry_after_s = atomic_load(&call->scheduler->admission.retry_after_s);
    }
    hand_back(call);
}

void answer_status(struct call *call, enum status status, const char *detail)
{
    problem_set(&call->problem, status, "%s", detail);
    answer_problem(call);
}

void answer_not_stored(struct call *call, enum status status)
{
    answer_status(call, status,
                  status == STATUS_NO_MEMORY ? "There is not enough memory; nothing was stored."
                  : status == STATUS_DISK_FULL
                      ? "There is not enough disk space; nothing was stored."
                      : "The state directory cannot be written; nothing was stored.");
}

void answer_body(struct call *call, unsigned http_status, char *body)
{
    if (body == NULL) {
        answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the response.");
        return;
    }
    call->body = body;
    answer_empty(call, http_status);
}

void answer_no_such(struct call *call)
{
    const bool is_job = call->kind == CALL_JOB || call->kind == CALL_EVENTS ||
                        call->kind == CALL_CANCEL || strncmp(call->key, "j_", 2) == 0;
    problem_set(&call->problem, is_job ? STATUS_NO_SUCH_JOB : STATUS_NO_SUCH_GRAPH,
                "There is no %s \"%s\".", is_job ? "job" : "graph", call->key);
    answer_problem(call);
}

uint32_t answer_position(struct scheduler *scheduler, const struct job *job)
{
    return job->share != NULL ? queue_ahead(&scheduler->queue, job).number : 0;
}

double answer_eta_s(struct scheduler *scheduler, const struct job *job)
{
    const double now_s = clock_monotonic_s();
    double before_s = 0;
    uint32_t workers = 0;
    if (job->row.state != JOB_QUEUED) {
        return job_eta_s(job, now_s);
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const struct scheduler_worker *slot = &scheduler->workers[i];
        const double left_s = slot->job != NULL ? job_eta_s(slot->job, now_s) : 0;
        /* A job without an estimate of its remaining time counts with its whole expected time. */
        before_s += left_s >= 0 ? left_s : slot->job->expected_s;
        workers += slot != scheduler->group &&
                   atomic_load(&worker_health_of(slot->worker)->state) != WORKER_LOST;
    }
    if (workers == 0 || job->expected_s <= 0) {
        return -1;
    }
    if (job->share != NULL) {
        before_s += queue_ahead(&scheduler->queue, job).seconds;
    }
    return before_s / workers + job->expected_s;
}

/* Returns whether the end of the job is on the disk, together with its result if it is done. An
 * evicted result counts as durable, but not while the graph is being deleted. */
static bool is_durable(const struct job *job, const struct graph_entry *entry)
{
    if (job->durability != JOB_END_STORED || job->row.state != JOB_DONE || entry == NULL) {
        return job->durability == JOB_END_STORED;
    }
    if (entry->results[job->row.kind].result == NULL) {
        return entry->state != GRAPH_DELETING &&
               entry->results[job->row.kind].state != GRAPH_RESULT_LOST;
    }
    return entry->results[job->row.kind].state == GRAPH_RESULT_DURABLE;
}

const char *answer_phase(const struct job *job)
{
    return job->signal != NULL ? job_phase_name(progress_phase(&job->signal->progress)) : NULL;
}

char *answer_print_job(struct scheduler *scheduler, const struct job *job)
{
    const struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, job->row.graph_id);
    const struct job_document document = {
        .id = job->row.id,
        .graph_id = job->row.graph_id,
        .graph_name = entry != NULL && entry->name_count > 0 ? entry->names[0] : NULL,
        .state = job->row.state,
        .position = answer_position(scheduler, job),
        .progress = job_progress(job, clock_monotonic_s()),
        .phase = answer_phase(job),
        .eta_s = answer_eta_s(scheduler, job),
        .durable = is_durable(job, entry),
        .priority = job->row.priority,
        .created_s = job->row.created_s,
        .started_s = job->row.started_s,
        .finished_s = job->row.finished_s,
        .deadline_s = job->row.deadline_s,
        .kind = job->row.kind,
        .vertex_count = entry != NULL ? entry->row.vertex_count : 0,
        .edge_count = entry != NULL ? entry->row.edge_count : 0,
        .directed = entry != NULL && entry->row.directed,
        .summary = entry != NULL ? &entry->row.summary : NULL,
        .report = &job->report,
    };
    return job_document_print(&document);
}

void answer_job(struct scheduler *scheduler, struct call *call, const struct job *job)
{
    const bool is_final = job_state_is_final(job->row.state);
    memcpy(call->job_id, job->row.id, sizeof(call->job_id));
    memcpy(call->graph_id, job->row.graph_id, sizeof(call->graph_id));
    call->retry_after_s = is_final ? call->retry_after_s : 1;
    const bool is_new = call->kind == CALL_SUBMIT || call->kind == CALL_CHANGE;
    const bool is_accepted = (is_new && !is_final) || call->kind == CALL_CANCEL;
    answer_body(call, is_accepted ? 202 : 200, answer_print_job(scheduler, job));
}

char *answer_print_graph(const struct graph_entry *entry, const struct submit_call *upload)
{
    const struct result *result = graph_entry_answer(entry);
    enum kind kind = entry->answering;
    struct problem problem;
    if (result == NULL && graph_entry_choose_kind(entry, KIND_AUTO, &kind, &problem) != STATUS_OK) {
        kind = KIND_F8;
    }
    const struct graph_document document = {
        .input = upload != NULL ? &upload->input : NULL,
        .warnings = upload != NULL ? upload->warnings : NULL,
        .id = entry->row.id,
        .names = entry->names,
        .parent = entry->row.parent,
        .kind = kind,
        .created_s = entry->row.created_s,
        .vertex_count = entry->row.vertex_count,
        .edge_count = entry->row.edge_count,
        .directed = entry->row.directed,
        .file_bytes = entry->row.file_bytes,
        .coordinate_system = entry->stored_coordinates.bytes == 0 ? NULL
                             : entry->stored_coordinates.is_plane ? "plane"
                                                                  : "degrees",
        .located = entry->stored_coordinates.located,
        .summary = &entry->row.summary,
        .result_kind = result != NULL ? kind_name(result_kind(result)) : NULL,
        .job_id = entry->latest_job != NULL ? entry->latest_job->row.id : NULL,
    };
    return graph_document_print(&document);
}

void answer_graph(struct call *call, const struct graph_entry *entry, unsigned http_status)
{
    memcpy(call->graph_id, entry->row.id, sizeof(call->graph_id));
    if (entry->latest_job != NULL) {
        memcpy(call->job_id, entry->latest_job->row.id, sizeof(call->job_id));
    }
    const struct submit_call *upload = call->kind == CALL_STORE_GRAPH ? &call->submit : NULL;
    answer_body(call, http_status, answer_print_graph(entry, upload));
}

struct job *answer_job_to_watch(const struct scheduler *scheduler, const struct call *call)
{
    struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
    if (job != NULL && job->row.state != JOB_DONE) {
        return job;
    }
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    struct job *latest = entry != NULL ? entry->latest_job : NULL;
    return latest != NULL && latest->durability != JOB_ACCEPTING ? latest : job;
}

void answer_result(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    const struct job *job = answer_job_to_watch(scheduler, call);
    struct problem *problem = &call->problem;
    if (entry != NULL) {
        memcpy(call->graph_id, entry->row.id, sizeof(call->graph_id));
    }
    if (job != NULL) {
        memcpy(call->job_id, job->row.id, sizeof(call->job_id));
    }
    if (results_find(scheduler, call)) {
        answer_empty(call, 200);
        return;
    }
    const bool is_active = job != NULL && !job_state_is_final(job->row.state);
    if (job == NULL || job->row.state == JOB_DONE) {
        problem_set(problem, STATUS_NOT_SOLVED, "There is no result for \"%s\" at present.",
                    call->key);
    } else if (is_active) {
        problem_set(problem, STATUS_NOT_SOLVED, "The job %s is still %s.", job->row.id,
                    job_state_name(job->row.state));
    } else {
        problem_set(problem, STATUS_NOT_SOLVED, "The job %s ended in the state %s%s%s", job->row.id,
                    job_state_name(job->row.state),
                    job->report.problem.detail[0] != '\0' ? ": " : ".", job->report.problem.detail);
    }
    if (is_active) {
        problem_hint(problem, "Poll /v1/jobs/%s, or repeat the request with Prefer: wait=30.",
                     job->row.id);
        call->retry_after_s = 1;
    } else if (entry != NULL) {
        problem_hint(problem, "Submit {\"graph\":\"%s\"} to /v1/jobs to solve the graph.",
                     entry->row.id);
    }
    answer_problem(call);
}
