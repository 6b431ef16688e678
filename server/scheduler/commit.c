#include "server/scheduler/commit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Handles a returned commit. A full disk or lack of memory may pass, so the process continues;
 * after a failed write or with a corrupt catalogue nothing more can be made durable, so it must
 * exit. */
static void deliver_commit(struct message *message)
{
    struct commit *commit = (struct commit *)message;
    struct scheduler *scheduler = commit->scheduler;
    const enum status status = commit->change.status;
    scheduler->changes--;
    if (status != STATUS_OK) {
        metrics_add(METRIC_STORE_FAILURES, 1);
        log_write(LOG_ERROR, "store_failed", LOG_TEXT("code", status_info(status)->code),
                  LOG_TEXT("job", commit->job != NULL ? commit->job->row.id : ""));
    }
    if (status == STATUS_DISK_FULL) {
        ledger_note_full(scheduler);
    } else if (status == STATUS_NO_MEMORY) {
        ledger_pause(scheduler);
    } else if (status != STATUS_OK && scheduler->lost_status == STATUS_OK) {
        scheduler->lost_status = STATUS_IO;
    }
    if (store_find_op(&commit->change, STORE_PUT_NAME) != NULL) {
        LIST_REMOVE(commit, in_namings);
        scheduler->marks.unparked = true;
        scheduler->marks.ends_unstored |= status == STATUS_OK;
    }
    if (commit->job != NULL) {
        commit->job->changes--;
    }
    if (commit->entry != NULL) {
        commit->entry->changes--;
        commit->entry->active_jobs -= commit->keeps_graph;
    }
    upload_memory_release(&commit->share);
    if (commit->then != NULL) {
        commit->then(commit);
    }
    commit_destroy(scheduler->delivered);
    scheduler->delivered = commit;
}

/* Posts the finished commit to the loop thread. Called on a thread of the store. */
static void post_home(struct store_change *change)
{
    struct commit *commit = change->context;
    mailbox_post(commit->scheduler->mailbox, &commit->message);
}

enum status commit_create(struct scheduler *scheduler, void (*then)(struct commit *commit),
                          struct commit **ret_commit)
{
    struct commit *commit = calloc(1, sizeof(*commit));
    if (commit == NULL) {
        return STATUS_NO_MEMORY;
    }
    commit->scheduler = scheduler;
    commit->then = then;
    commit->message.deliver = deliver_commit;
    commit->change.done = post_home;
    commit->change.context = commit;
    *ret_commit = commit;
    return STATUS_OK;
}

void commit_destroy(struct commit *commit)
{
    if (commit == NULL) {
        return;
    }
    result_unref(commit->result);
    upload_memory_release(&commit->share);
    graph_destroy(commit->graph);
    hierarchy_destroy_shape(commit->shape);
    free(commit->report);
    free(commit);
}

enum status commit_add_job(struct commit *commit, struct job *job)
{
    commit->report = job_report_encode(&job->report);
    if (commit->report == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct job_row *row = &store_add_op(&commit->change, STORE_PUT_JOB)->job;
    *row = job->row;
    row->report = commit->report;
    memcpy(row->tenant, job->tenant->name, sizeof(row->tenant));
    commit->job = job;
    return STATUS_OK;
}

enum status commit_create_of_job(struct scheduler *scheduler, struct job *job,
                                 void (*then)(struct commit *commit), struct commit **ret_commit)
{
    struct commit *commit = NULL;
    if (commit_create(scheduler, then, &commit) != STATUS_OK ||
        commit_add_job(commit, job) != STATUS_OK) {
        commit_destroy(commit);
        return STATUS_NO_MEMORY;
    }
    *ret_commit = commit;
    return STATUS_OK;
}

static struct commit *commit_of(struct pool_work *work)
{
    return (struct commit *)(void *)((char *)work - offsetof(struct commit, writing));
}

static void write_graph(struct pool_work *work)
{
    store_write_graph(work->scheduler->store, &commit_of(work)->change);
}

static void graph_written(struct pool_work *work)
{
    store_apply(work->scheduler->store, &commit_of(work)->change);
}

bool commit_writes_graph(struct commit *commit)
{
    const struct store_op *op = store_find_op(&commit->change, STORE_PUT_GRAPH);
    return op != NULL && op->graph.graph != NULL;
}

void commit_add_name(struct commit *commit, const char *name, const char *graph_id,
                     const char *tenant)
{
    struct name_row *row = &store_add_op(&commit->change, STORE_PUT_NAME)->name;
    snprintf(row->name, sizeof(row->name), "%s", name);
    snprintf(row->graph_id, sizeof(row->graph_id), "%s", graph_id);
    snprintf(row->tenant, sizeof(row->tenant), "%s", tenant);
}

void commit_send(struct commit *commit)
{
    commit->scheduler->changes++;
    if (store_find_op(&commit->change, STORE_PUT_NAME) != NULL) {
        LIST_INSERT_HEAD(&commit->scheduler->namings, commit, in_namings);
    }
    if (commit->job != NULL) {
        commit->job->changes++;
    }
    if (commit->entry != NULL) {
        commit->entry->changes++;
        commit->entry->active_jobs += commit->keeps_graph;
    }
    if (!commit_writes_graph(commit)) {
        store_apply(commit->scheduler->store, &commit->change);
        return;
    }
    commit->writing.run = write_graph;
    commit->writing.then = graph_written;
    pool_queue(commit->scheduler, commit->entry->tenant, POOL_UPLOAD, &commit->writing);
}

bool commit_names(const struct scheduler *scheduler, const struct tenant *tenant, const char *name)
{
    struct commit *commit;
    LIST_FOREACH(commit, &scheduler->namings, in_namings)
    {
        const struct name_row *row = &store_find_op(&commit->change, STORE_PUT_NAME)->name;
        if (strcmp(row->name, name) == 0 && strcmp(row->tenant, tenant->name) == 0) {
            return true;
        }
    }
    return false;
}
