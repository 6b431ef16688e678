#include "server/scheduler/names.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"

#include <stdio.h>
#include <string.h>

/* The graph that has the name of the job now, if that is the parent or, since the job is done, its
 * own graph. NULL: the name went elsewhere, or is just going, and does not move. */
static const struct graph_entry *find_owner(const struct scheduler *scheduler,
                                            const struct job *job)
{
    const char *name = job->report.moves;
    const struct graph_entry *owner = graph_table_find_name(scheduler->graphs, job->tenant, name);
    const bool is_lost = owner == NULL || owner->state == GRAPH_DELETING ||
                         scheduler_commit_names(scheduler, job->tenant, name) ||
                         (strcmp(owner->row.id, job->report.parent) != 0 &&
                          strcmp(owner->row.id, job->graph_id) != 0);
    return is_lost ? NULL : owner;
}

void names_move(struct scheduler *scheduler, const struct job *job, struct graph_entry *entry)
{
    const char *name = job->report.moves;
    if (name[0] == '\0' || entry == NULL) {
        return;
    }
    if (job->state == JOB_DONE && find_owner(scheduler, job) != NULL &&
        graph_table_name(scheduler->graphs, name, entry) == STATUS_OK) {
        results_bind_name(scheduler, name, entry);
    } else {
        log_write(LOG_INFO, "name_not_moved", LOG_TEXT("job", job->id), LOG_TEXT("name", name));
    }
}

void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit)
{
    const char *name = job->report.moves;
    if (name[0] == '\0' || job->state != JOB_DONE || find_owner(scheduler, job) == NULL) {
        return;
    }
    scheduler_commit_add_name(commit, name, job->graph_id, job->tenant->name);
}

void names_release(struct scheduler *scheduler, const struct tenant *tenant, const char *name,
                   const char *parent_id)
{
    if (name[0] != '\0') {
        graph_table_end_changing(scheduler->graphs, tenant, name, parent_id);
        scheduler->marks.unparked = true;
        scheduler_wake(scheduler); /* this may be the turn's look at the mark, or after it */
    }
}

/* ---- Deletion ---- */

void names_sweep(struct scheduler *scheduler, const char *graph_id)
{
    struct graph_entry *entry = graph_table_find_id(scheduler->graphs, graph_id);
    if (entry != NULL && entry->row.of_name && graph_entry_is_visible(entry) &&
        entry->name_count == 0 && entry->active_jobs == 0) {
        names_delete_graph(scheduler, entry, NULL);
    }
}

static void deletion_stored(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    const enum status status = commit->change.status;
    scheduler->marks.unparked = true;
    if (status == STATUS_OK) {
        log_write(LOG_INFO, "graph_deleted", LOG_TEXT("graph", commit->entry->row.id));
        graph_table_remove(scheduler->graphs, commit->entry);
    } else {
        commit->entry->state = commit->entry->undeleted_state;
    }
    if (commit->call != NULL && status == STATUS_OK) {
        answer_empty(commit->call, 204);
    } else if (commit->call != NULL) {
        answer_status(commit->call, status, "The state directory cannot be written.");
    }
}

void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call)
{
    struct commit *commit;
    if (scheduler_commit_create(scheduler, deletion_stored, &commit) != STATUS_OK) {
        if (call != NULL) {
            answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        }
        return;
    }
    memcpy(store_add_op(&commit->change, STORE_DELETE_GRAPH)->id, entry->row.id,
           sizeof(entry->row.id));
    commit->call = call;
    commit->entry = entry;
    entry->undeleted_state = entry->state;
    entry->state = GRAPH_DELETING;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (entry->results[kind] != NULL) {
            results_retire(scheduler, entry, kind, commit);
        }
    }
    scheduler_commit_send(commit);
}
