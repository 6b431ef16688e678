#include "server/scheduler/names.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"

#include <string.h>

void names_begin_move(struct scheduler *scheduler, struct name_move *move,
                      const struct tenant *tenant, const char *name)
{
    if (name[0] != '\0') {
        *move = (struct name_move){.tenant = tenant, .name = name};
        LIST_INSERT_HEAD(&scheduler->moves, move, in_moves);
    }
}

void names_end_move(struct scheduler *scheduler, struct name_move *move)
{
    if (move->name != NULL) {
        LIST_REMOVE(move, in_moves);
        move->name = NULL;
        scheduler->marks.unparked = true;
        scheduler_wake(scheduler); /* this turn of the loop may already have read the mark */
    }
}

bool names_is_moving(const struct scheduler *scheduler, const struct tenant *tenant,
                     const char *name)
{
    const struct name_move *move;
    LIST_FOREACH(move, &scheduler->moves, in_moves)
    {
        if (move->tenant == tenant && strcmp(move->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns whether the job is done and its name must move to its graph. A name that should move from
 * the parent to the changed graph is not assigned again if it was deleted with the parent, or now
 * belongs to another graph. */
static bool is_due(const struct scheduler *scheduler, const struct job *job)
{
    const struct graph_table *graphs = &scheduler->graphs;
    const char *name = job->report.moves;
    const struct graph_entry *entry = job->graph;
    const struct graph_entry *owner = graph_table_find_name(graphs, job->tenant, name);
    if (name[0] == '\0' || job->row.state != JOB_DONE || entry == NULL ||
        entry->state == GRAPH_DELETING) {
        return false;
    }
    if (job->report.parent[0] != '\0' &&
        (owner == NULL || owner->state == GRAPH_DELETING ||
         (owner != entry && strcmp(owner->row.id, job->report.parent) != 0))) {
        return false;
    }
    return !graph_table_is_named_since(graphs, job->tenant, name, job->number);
}

void names_move(struct scheduler *scheduler, struct job *job)
{
    struct graph_entry *entry = job->graph;
    const char *name = job->report.moves;
    const struct graph_entry *owner = graph_table_find_name(&scheduler->graphs, job->tenant, name);
    if (name[0] == '\0' || entry == NULL) {
        return;
    }
    if (owner != NULL) {
        memcpy(job->move.from, owner->row.id, sizeof(job->move.from));
    }
    if (is_due(scheduler, job) &&
        graph_table_name(&scheduler->graphs, name, entry, job->number) == STATUS_OK) {
        results_bind_name(scheduler, name, entry);
    } else {
        log_write(LOG_INFO, "name_not_moved", LOG_TEXT("job", job->row.id), LOG_TEXT("name", name));
    }
}

void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit)
{
    if (is_due(scheduler, job)) {
        commit_add_name(commit, job->report.moves, job->row.graph_id, job->tenant->name);
    }
}

void names_delete_old_graph(struct scheduler *scheduler, const char *graph_id)
{
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, graph_id);
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
        graph_table_remove(&scheduler->graphs, commit->entry);
    } else {
        commit->entry->state = commit->entry->undeleted_state;
    }
    if (commit->call != NULL && status == STATUS_OK) {
        answer_empty(commit->call, 204);
    } else if (commit->call != NULL) {
        answer_not_stored(commit->call, status);
    }
}

void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call)
{
    struct commit *commit;
    if (commit_create(scheduler, deletion_stored, &commit) != STATUS_OK) {
        if (call != NULL) {
            answer_not_stored(call, STATUS_NO_MEMORY);
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
        if (entry->results[kind].result != NULL) {
            results_retire(scheduler, entry, kind, commit);
        }
    }
    commit_send(commit);
}
