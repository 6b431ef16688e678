#include "server/job/scheduler_internal.h"

#include <stdlib.h>
#include <string.h>

/* Back on the loop. A failed write or a corrupt catalogue may have lost what was to be kept: the
 * process can promise nothing any more and has to end. A full disk and want of memory are waited
 * out. */
static void deliver_commit(struct message *message)
{
    struct commit *commit = (struct commit *)message;
    struct scheduler *scheduler = commit->scheduler;
    const enum status status = commit->change.status;
    scheduler->changes--;
    if (status != STATUS_OK) {
        metrics_add(METRIC_STORE_FAILURES, 1);
        log_write(LOG_ERROR, "store_failed", LOG_TEXT("code", status_info(status)->code),
                  LOG_TEXT("job", commit->job != NULL ? commit->job->id : ""));
    }
    if (status == STATUS_DISK_FULL) {
        capacity_note_full(scheduler);
    } else if (status == STATUS_NO_MEMORY) {
        capacity_pause(scheduler);
    } else if (status != STATUS_OK && scheduler->lost_status == STATUS_OK) {
        scheduler->lost_status = STATUS_IO;
    }
    if (commit->job != NULL) {
        commit->job->changes--;
    }
    if (commit->entry != NULL) {
        commit->entry->changes--;
        commit->entry->active_jobs -= commit->change.graph != NULL;
    }
    capacity_release_share(&commit->share);
    if (commit->then != NULL) {
        commit->then(commit);
    }
    commit_destroy(commit);
}

/* On the catalogue thread. */
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
    if (commit->result != NULL) {
        result_unref(commit->result);
    }
    capacity_release_share(&commit->share);
    graph_destroy(commit->graph);
    free(commit->report);
    free(commit);
}

enum status commit_add_job(struct commit *commit, struct job *job)
{
    if (job_state_is_final(job->state) || job->report.input.known || job->report.workers_lost > 0 ||
        job->report.traceparent[0] != '\0') {
        commit->report = job_report_encode(&job->report);
        if (commit->report == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    job_fill_row(job, commit->report, &commit->job_row);
    commit->change.job_row = &commit->job_row;
    commit->job = job;
    return STATUS_OK;
}

void commit_add_name(struct commit *commit, const char *name)
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

void commit_delete_result(struct commit *commit, struct graph_entry *entry, enum kind kind,
                          bool quarantine)
{
    commit->entry = entry;
    commit->result_row.kind = kind;
    memcpy(commit->result_row.graph_id, entry->row.id, sizeof(entry->row.id));
    commit->change.delete_result = &commit->result_row;
    commit->change.quarantine = quarantine;
}

/* On a thread of the pool. */
static void write_graph(uv_work_t *request)
{
    struct commit *commit = request->data;
    store_write_graph(commit->scheduler->store, &commit->change);
}

static void graph_written(uv_work_t *request, int error)
{
    struct commit *commit = request->data;
    CHECK(error == 0); /* nothing cancels it */
    store_apply(commit->scheduler->store, &commit->change);
}

void commit_send(struct commit *commit)
{
    commit->scheduler->changes++;
    if (commit->job != NULL) {
        commit->job->changes++;
    }
    if (commit->entry != NULL) {
        commit->entry->changes++;
        /* A graph whose file is being written is not deleted meanwhile. */
        commit->entry->active_jobs += commit->change.graph != NULL;
    }
    if (commit->change.graph == NULL) {
        store_apply(commit->scheduler->store, &commit->change);
        return;
    }
    commit->writing.data = commit;
    CHECK(uv_queue_work(commit->scheduler->loop, &commit->writing, write_graph, graph_written) ==
          0);
}

void commit_note_end(struct scheduler *scheduler, struct job *job)
{
    job->committed = true;
    scheduler->history++;
}
