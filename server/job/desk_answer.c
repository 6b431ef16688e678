#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

void desk_answer(struct ask *ask)
{
    struct desk *desk = ask->desk;
    ask->answered(ask);
    /* After: while one is counted its connection may still be suspended. */
    atomic_fetch_sub(&desk->asks_open, 1);
}

void desk_answer_problem(struct ask *ask, const struct problem *problem)
{
    ask->problem = *problem;
    ask->status = problem->status;
    ask->http_status = status_info(problem->status)->http;
    if (problem->status == STATUS_QUEUE_FULL || problem->status == STATUS_JOB_QUOTA ||
        problem->status == STATUS_DRAINING) {
        ask->retry_after_s = atomic_load(&ask->desk->admission.retry_after_s);
    }
    desk_answer(ask);
}

void desk_answer_status(struct ask *ask, enum status status, const char *detail)
{
    struct problem problem;
    problem_set(&problem, status, "%s", detail);
    desk_answer_problem(ask, &problem);
}

void desk_answer_body(struct ask *ask, unsigned http_status, char *body)
{
    if (body == NULL) {
        desk_answer_status(ask, STATUS_NO_MEMORY, "There is not enough memory for the answer.");
        return;
    }
    ask->status = STATUS_OK;
    ask->http_status = http_status;
    ask->body = body;
    desk_answer(ask);
}

void desk_answer_no_such(struct ask *ask)
{
    bool is_job = ask->kind == ASK_JOB || ask->kind == ASK_EVENTS || ask->kind == ASK_CANCEL ||
                  strncmp(ask->key, "j_", 2) == 0;
    struct problem problem;
    problem_set(&problem, is_job ? STATUS_NO_SUCH_JOB : STATUS_NO_SUCH_GRAPH,
                "There is no %s \"%s\".", is_job ? "job" : "graph", ask->key);
    desk_answer_problem(ask, &problem);
}

/* A result that was evicted since was durable; whether one is that a deletion has hidden, the disk
 * decides. */
static bool is_durable(const struct job *job, const struct graph_entry *entry)
{
    if (!job->committed || job->state != JOB_DONE || entry == NULL) {
        return job->committed;
    }
    if (entry->results[job->kind] == NULL) {
        return !entry->deleting && !entry->lost[job->kind];
    }
    return entry->durable[job->kind];
}

static uint32_t position_of(struct desk *desk, const struct job *job)
{
    return job->state == JOB_QUEUED ? job_queue_position(&desk->queue, job) : 0;
}

char *desk_answer_print_job(struct desk *desk, const struct job *job)
{
    static const struct graph_summary unknown = {.negative_loop = NO_VERTEX};
    const struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    struct job_document document = {
        .id = job->id,
        .graph_id = job->graph_id,
        .graph_name = entry != NULL && entry->name_count > 0 ? entry->names[0] : NULL,
        .state = job->state,
        .position = position_of(desk, job),
        .progress = job_progress(job),
        .eta_s = desk_dispatch_eta_s(desk, job),
        .durable = is_durable(job, entry),
        .priority = job->priority,
        .created_s = job->created_s,
        .started_s = job->started_s,
        .finished_s = job->finished_s,
        .deadline_s = job->deadline_s,
        .kind = job->kind,
        .vertex_count = entry != NULL ? entry->row.vertex_count : 0,
        .edge_count = entry != NULL ? entry->row.edge_count : 0,
        .directed = entry != NULL && entry->row.directed,
        .summary = entry != NULL ? &entry->row.summary : &unknown,
        .report = &job->report,
    };
    return job_document_print(&document);
}

static unsigned http_status_of(const struct ask *ask, const struct job *job)
{
    bool accepted = ask->kind == ASK_SUBMIT && !job_state_is_final(job->state);
    return accepted || ask->kind == ASK_CANCEL ? 202 : 200;
}

static struct timings timings_of(const struct job *job)
{
    struct timings timings = job->report.timings;
    if (!job_state_is_final(job->state)) {
        timings.parse_s = job->parse_s;
        timings.queue_s = job->state == JOB_RUNNING ? job->started_s - job->created_s : 0;
    }
    return timings;
}

void desk_answer_job(struct desk *desk, struct ask *ask, const struct job *job)
{
    memcpy(ask->job_id, job->id, sizeof(ask->job_id));
    memcpy(ask->graph_id, job->graph_id, sizeof(ask->graph_id));
    ask->timings = timings_of(job);
    if (!job_state_is_final(job->state)) {
        ask->retry_after_s = 1;
    }
    desk_answer_body(ask, http_status_of(ask, job), desk_answer_print_job(desk, job));
}

char *desk_answer_print_graph(const struct graph_entry *entry, const struct input_report *input)
{
    const struct result *answer = graph_entry_answer(entry);
    struct graph_document document = {
        .input = input,
        .id = entry->row.id,
        .names = (const char *const *)entry->names,
        .created_s = entry->row.created_s,
        .vertex_count = entry->row.vertex_count,
        .edge_count = entry->row.edge_count,
        .directed = entry->row.directed,
        .file_bytes = entry->row.file_bytes,
        .summary = &entry->row.summary,
        .result_kind = answer != NULL ? kind_name(result_kind(answer)) : NULL,
        .job_id = entry->latest_job[0] != '\0' ? entry->latest_job : NULL,
    };
    return graph_document_print(&document);
}

void desk_answer_graph(struct ask *ask, const struct graph_entry *entry, unsigned http_status)
{
    memcpy(ask->graph_id, entry->row.id, sizeof(ask->graph_id));
    memcpy(ask->job_id, entry->latest_job, sizeof(ask->job_id));
    desk_answer_body(ask, http_status, desk_answer_print_graph(entry, &ask->input));
}
