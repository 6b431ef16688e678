#include "server/clock.h"
#include "server/job/scheduler_internal.h"

#include <stdlib.h>
#include <string.h>

/* Message from any thread: a result or a graph file proved damaged. */
struct damage_notice {
    struct message message;
    struct scheduler *scheduler;
    struct result *result; /* counted; NULL: the graph's file */
    char graph_id[GRAPH_ID_SIZE];
};

/* The graph stays known: an upload of the same graph heals it. */
void damage_quarantine_graph(struct scheduler *scheduler, const char *graph_id)
{
    struct graph_entry *entry = graph_table_find_id(scheduler->graphs, graph_id);
    struct commit *commit = NULL;
    if (entry == NULL || entry->deleting || entry->damaged ||
        commit_create(scheduler, NULL, &commit) != STATUS_OK) {
        return;
    }
    entry->damaged = true;
    log_write(LOG_ERROR, "graph_damaged", LOG_TEXT("graph", graph_id));
    memcpy(commit->deleted_id, entry->row.id, sizeof(entry->row.id));
    commit->change.quarantine_graph_id = commit->deleted_id;
    commit->entry = entry;
    commit_send(commit);
}

/* ---- A result solved again ---- */

static void job_stored(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    struct job *job = commit->job;
    if (job == NULL) {
        return;
    }
    if (commit->change.status != STATUS_OK) {
        capacity_release(scheduler, job->tenant, &job->held, job->held);
        commit->entry->active_jobs--;
        job_table_remove(scheduler->jobs, job);
        return;
    }
    job->accepted = true;
    log_write(LOG_INFO, "job_accepted", LOG_TEXT("job", job->id), LOG_TEXT("graph", job->graph_id),
              LOG_TEXT("kind", kind_name(job->kind)),
              LOG_TEXT("state", job_state_name(job->state)));
    job_queue_push(&scheduler->queue, &job->tenant->share, job);
}

static bool is_being_solved(const struct scheduler *scheduler, const char *graph_id, enum kind kind)
{
    const struct job *job = job_table_newest_of(scheduler->jobs, graph_id);
    while (job != NULL && (job_state_is_final(job->state) || job->kind != kind)) {
        job = job->older_of_graph;
    }
    return job != NULL;
}

/* A new job, as the jobs that are done with the result stay so. Without memory for it the next
 * call that waits for the result has the graph solved. */
static void add_job(struct commit *commit, enum kind kind)
{
    struct scheduler *scheduler = commit->scheduler;
    struct graph_entry *entry = commit->entry;
    struct job *job = NULL;
    if (job_create(entry->row.id, kind, clock_wall_s(), &job) != STATUS_OK) {
        return;
    }
    const struct job *solver = job_table_find(scheduler->jobs, entry->tenant, entry->latest_job);
    job->tenant = entry->tenant != NULL ? entry->tenant : scheduler->nobody;
    job->vertex_count = entry->row.vertex_count;
    job->verify = solver != NULL && solver->kind == kind && solver->verify;
    job->priority = solver != NULL ? solver->priority : 0;
    struct job *added = job;
    if (job_table_add(scheduler->jobs, &job) != STATUS_OK) {
        job_destroy(job);
        return;
    }
    if (commit_add_job(commit, added) != STATUS_OK) {
        job_table_remove(scheduler->jobs, added);
        return;
    }
    memcpy(entry->latest_job, added->id, sizeof(added->id));
    entry->active_jobs++;
    capacity_reserve(
        scheduler, added->tenant, &added->held,
        (struct capacity){.disk_bytes = capacity_result_bytes(added->vertex_count, kind)});
}

static void replace_result(struct scheduler *scheduler, const struct result *result)
{
    struct graph_entry *entry = graph_table_find_id(scheduler->graphs, result_graph_id(result));
    const enum kind kind = result_kind(result);
    struct commit *commit = NULL;
    if (entry == NULL || entry->deleting || entry->results[kind] != result ||
        commit_create(scheduler, job_stored, &commit) != STATUS_OK) {
        return;
    }
    log_write(LOG_ERROR, "result_damaged", LOG_TEXT("graph", entry->row.id),
              LOG_TEXT("kind", kind_name(kind)));
    commit_delete_result(commit, entry, kind, true);
    results_retire(scheduler, entry, kind);
    entry->lost[kind] = true;
    if (!is_being_solved(scheduler, entry->row.id, kind)) {
        add_job(commit, kind);
    }
    commit_send(commit);
}

/* ---- The way to the loop ---- */

/* Once the drain has been told nothing changes any more: the next start finds the damage again. */
static void deliver_notice(struct message *message)
{
    struct damage_notice *notice = (struct damage_notice *)message;
    struct scheduler *scheduler = notice->scheduler;
    if (!scheduler->drained_told && notice->result != NULL) {
        replace_result(scheduler, notice->result);
    } else if (!scheduler->drained_told) {
        damage_quarantine_graph(scheduler, notice->graph_id);
    }
    if (notice->result != NULL) {
        result_unref(notice->result);
    }
    free(notice);
}

/* Any thread. Without memory the damage is found again by the next look. */
static void post_notice(struct scheduler *scheduler, struct result *result, const char *graph_id)
{
    struct damage_notice *notice = calloc(1, sizeof(*notice));
    if (notice == NULL) {
        return;
    }
    notice->scheduler = scheduler;
    notice->message.deliver = deliver_notice;
    notice->result = result != NULL ? result_ref(result) : NULL;
    snprintf(notice->graph_id, sizeof(notice->graph_id), "%s", graph_id);
    mailbox_post(scheduler->mailbox, &notice->message);
}

static void note_result(void *context, struct result *result)
{
    post_notice(context, result, result_graph_id(result));
}

void damage_watch_result(struct scheduler *scheduler, struct result *result)
{
    result_watch(result, note_result, scheduler);
}

void scheduler_note_damaged_graph(struct scheduler *scheduler, const char *graph_id)
{
    post_notice(scheduler, NULL, graph_id);
}
