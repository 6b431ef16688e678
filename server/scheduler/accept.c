#include "server/scheduler/accept.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/waiters.h"

/* Applies the outcome of a commit with a graph, a name, or both. */
static void apply_graph(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    struct graph_entry *entry = commit->entry;
    const struct store_op *named = store_find_op(&commit->change, STORE_PUT_NAME);
    if (commit->change.status != STATUS_OK) {
        graph_table_drop(&scheduler->graphs, entry);
        return;
    }
    const bool is_written = commit_writes_graph(commit);
    if (is_written) {
        entry->row.file_bytes =
            store_find_op(&commit->change, STORE_PUT_GRAPH)->graph.row.file_bytes;
    }
    graph_entry_commit(entry, is_written);
    if (store_find_op(&commit->change, STORE_ADD_COORDINATES) != NULL) {
        entry->stored_coordinates = commit->coordinates;
    }
    if (named != NULL) {
        const char *name = named->name.name;
        const struct graph_entry *owner =
            graph_table_find_name(&scheduler->graphs, entry->tenant, name);
        const uint64_t number =
            commit->job != NULL ? commit->job->number : scheduler->jobs.last_number;
        if (graph_table_name(&scheduler->graphs, name, entry, number) == STATUS_OK) {
            results_bind_name(scheduler, name, entry);
        }
        if (owner != NULL) {
            names_delete_old_graph(scheduler, owner->row.id);
        }
    }
}

void accept_stored_graph(struct commit *commit)
{
    const bool is_new = commit_writes_graph(commit);
    apply_graph(commit);
    if (commit->change.status == STATUS_OK) {
        answer_graph(commit->call, commit->entry, is_new ? 201 : 200);
    } else {
        answer_not_stored(commit->call, commit->change.status);
    }
}

static void job_accepted(struct scheduler *scheduler, struct commit *commit)
{
    struct job *job = commit->job;
    job->durability = JOB_ACCEPTED;
    commit->entry->latest_job = job;
    log_write(LOG_INFO, "job_accepted", LOG_TEXT("job", job->row.id),
              LOG_TEXT("trace_id", job_trace_id(job->report.traceparent).text),
              LOG_TEXT("request", commit->call != NULL ? commit->call->request_id : ""),
              LOG_TEXT("graph", job->row.graph_id), LOG_TEXT("kind", kind_name(job->row.kind)),
              LOG_TEXT("state", job_state_name(job->row.state)));
    metrics_add(METRIC_JOBS_ACCEPTED, 1);
    if (job->row.state == JOB_DONE) {
        job->durability = JOB_END_STORED; /* must be set before the answer is printed */
        job_table_end(&scheduler->jobs, job);
        results_bind_latest(scheduler, job);
    } else {
        queue_push(&scheduler->queue, &job->tenant->share, job);
        waiters_watch_deadline(scheduler, job);
    }
    while (!LIST_EMPTY(&job->acceptors)) {
        struct call *call = LIST_FIRST(&job->acceptors);
        LIST_REMOVE(call, of_job);
        waiters_hold(scheduler, call, job);
    }
}

void accept_stored_job(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    struct job *job = commit->job;
    const enum status status = commit->change.status;
    ledger_release(scheduler, job->tenant, &job->held,
                   (struct capacity){.queue_places = job->held.queue_places});
    if (status != STATUS_OK && job->row.state == JOB_QUEUED) {
        commit->entry->active_jobs--;
    }
    if (status != STATUS_OK && store_find_op(&commit->change, STORE_ADD_COORDINATES) != NULL &&
        commit->entry->coordinates.tag == commit->coordinates.tag) {
        graph_entry_set_coordinates(commit->entry, &commit->entry->stored_coordinates);
    }
    apply_graph(commit);
    if (status == STATUS_OK && job->row.state == JOB_DONE) {
        names_move(scheduler, job);
    }
    if (job->row.state == JOB_DONE || status != STATUS_OK) {
        names_end_move(scheduler, &job->move);
        names_delete_old_graph(scheduler, job->move.from);
    }
    if (status == STATUS_OK) {
        job_accepted(scheduler, commit);
        return;
    }
    while (!LIST_EMPTY(&job->acceptors)) {
        struct call *call = LIST_FIRST(&job->acceptors);
        LIST_REMOVE(call, of_job);
        answer_not_stored(call, status);
    }
    ledger_release(scheduler, job->tenant, &job->held, job->held);
    job_table_remove(&scheduler->jobs, job);
}
