#include "server/scheduler/scheduler_internal.h"

#include <stdio.h>
#include <string.h>

/* NULL: no graph has the name, or not for long. */
static const struct graph_entry *find_owner(const struct scheduler *scheduler,
                                            const struct job *job)
{
    const char *name = job->report.moves;
    const struct graph_entry *owner = graph_table_find_name(scheduler->graphs, job->tenant, name);
    const bool is_lost =
        owner == NULL || owner->deleting || scheduler_commit_names(scheduler, job->tenant, name);
    return is_lost ? NULL : owner;
}

/* The graph that has the name now, or had it until the job was done; NULL: it went elsewhere. */
static struct graph_entry *find_parent(const struct scheduler *scheduler, const struct job *job)
{
    const struct graph_entry *owner = find_owner(scheduler, job);
    if (owner == NULL || (strcmp(owner->row.id, job->report.parent) != 0 &&
                          strcmp(owner->row.id, job->graph_id) != 0)) {
        return NULL;
    }
    struct graph_entry *parent = graph_table_find_id(scheduler->graphs, job->report.parent);
    return parent != NULL && !parent->deleting ? parent : NULL;
}

static void send_row(struct commit *commit, struct graph_entry *entry)
{
    commit->entry = entry;
    commit->graph_row = entry->row;
    commit->change.graph_row = &commit->graph_row;
    scheduler_commit_send(commit);
}

/* Durable by itself, in the order of such changes: the end of a job may take long to be so, and a
 * later commit about the graph must not come first. Without memory the graph stays, and where it is
 * just being asked for. */
static void become_version(struct scheduler *scheduler, struct graph_entry *entry, const char *name)
{
    struct commit *commit;
    if (entry->keepers > 0 || scheduler_commit_create(scheduler, NULL, &commit) != STATUS_OK) {
        return;
    }
    graph_table_set_version(scheduler->graphs, entry, name);
    send_row(commit, entry);
}

void versions_store_again(struct scheduler *scheduler, const struct job *job)
{
    const char *ids[] = {job->report.parent, job->graph_id};
    for (size_t i = 0; i < 2 && job->report.moves[0] != '\0'; i++) {
        struct graph_entry *entry = graph_table_find_id(scheduler->graphs, ids[i]);
        struct commit *commit;
        if (entry != NULL && !entry->deleting && entry->keepers == 0 &&
            strcmp(entry->row.version_of, job->report.moves) == 0 &&
            scheduler_commit_create(scheduler, NULL, &commit) == STATUS_OK) {
            send_row(commit, entry);
        }
    }
}

void versions_move_name(struct scheduler *scheduler, const struct job *job,
                        struct graph_entry *entry)
{
    const char *name = job->report.moves;
    if (name[0] == '\0' || entry == NULL) {
        return;
    }
    struct graph_entry *parent = find_parent(scheduler, job);
    if (job->state == JOB_DONE && parent != NULL &&
        graph_table_name(scheduler->graphs, name, entry) == STATUS_OK) {
        results_bind_name(scheduler, name, entry);
        if (parent != entry && parent->name_count == 0) {
            become_version(scheduler, parent, name);
        }
        return;
    }
    log_write(LOG_INFO, "name_not_moved", LOG_TEXT("job", job->id), LOG_TEXT("name", name));
    /* A graph that was made for a name which it does not get is an old version from the start, and
     * goes before those that had it. */
    if (entry->row.parent[0] != '\0' && entry->name_count == 0 && !entry->deleting) {
        become_version(scheduler, entry, name);
        graph_table_make_oldest(entry);
    }
}

void versions_add_name(struct scheduler *scheduler, const struct job *job, struct commit *commit)
{
    const char *name = job->report.moves;
    if (name[0] == '\0' || job->state != JOB_DONE) {
        return;
    }
    const struct graph_entry *owner = find_owner(scheduler, job);
    /* A name that has moved goes to the disk, also when its end is late and the parent is gone. */
    const bool has_moved = owner != NULL && strcmp(owner->row.id, job->graph_id) == 0;
    const struct graph_entry *parent = has_moved ? NULL : find_parent(scheduler, job);
    if (!has_moved && parent == NULL) {
        return;
    }
    /* Where the result was there at once the name goes to the disk before it moves in memory: a
     * kill between the two would leave a parent that is neither named nor a version. */
    if (parent != NULL && parent->name_count == 1) {
        commit->parent_row = parent->row;
        memcpy(commit->parent_row.version_of, name, strlen(name) + 1);
        commit->change.parent_row = &commit->parent_row;
    }
    snprintf(commit->name_row.name, sizeof(commit->name_row.name), "%s", name);
    memcpy(commit->name_row.graph_id, job->graph_id, sizeof(job->graph_id));
    memcpy(commit->name_row.tenant, job->tenant->name, sizeof(job->tenant->name));
    commit->change.name_row = &commit->name_row;
}

static void delete_old(struct scheduler *scheduler, const struct tenant *tenant, const char *name,
                       uint32_t kept)
{
    struct graph_entry *old;
    while ((old = graph_table_old_version(scheduler->graphs, tenant, name, kept)) != NULL) {
        versions_delete_graph(scheduler, old, NULL);
        if (!old->deleting) {
            return; /* there is no memory: the next change tries again */
        }
    }
}

void versions_delete_old(struct scheduler *scheduler, const struct tenant *tenant, const char *name)
{
    delete_old(scheduler, tenant, name, scheduler->config->versions);
}

void versions_release(struct scheduler *scheduler, const struct tenant *tenant, const char *name,
                      const char *parent_id)
{
    if (name[0] != '\0') {
        graph_table_end_changing(scheduler->graphs, tenant, name, parent_id);
        scheduler->marks.unparked = true;
        scheduler_wake(scheduler); /* this may be the turn's look at the mark, or after it */
        versions_delete_old(scheduler, tenant, name);
    }
}

/* ---- Deletion ---- */

static void deletion_stored(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    const enum status status = commit->change.status;
    scheduler->marks.unparked = true;
    if (status == STATUS_OK) {
        graph_table_remove(scheduler->graphs, commit->entry);
        log_write(LOG_INFO, "graph_deleted", LOG_TEXT("graph", commit->deleted_id));
    } else {
        commit->entry->deleting = false;
    }
    if (commit->call != NULL && status == STATUS_OK) {
        answer_empty(commit->call, 204);
    } else if (commit->call != NULL) {
        answer_status(commit->call, status, "The state directory cannot be written.");
    }
}

/* The versions of its names go with it. */
void versions_delete_graph(struct scheduler *scheduler, struct graph_entry *entry,
                           struct call *call)
{
    struct commit *commit;
    if (scheduler_commit_create(scheduler, deletion_stored, &commit) != STATUS_OK) {
        if (call != NULL) {
            answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        }
        return;
    }
    for (size_t i = 0; i < entry->name_count; i++) {
        delete_old(scheduler, entry->tenant, entry->names[i], 0);
    }
    memcpy(commit->deleted_id, entry->row.id, sizeof(entry->row.id));
    commit->change.delete_graph_id = commit->deleted_id;
    commit->call = call;
    commit->entry = entry;
    entry->deleting = true;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (entry->results[kind] != NULL) {
            results_retire(scheduler, entry, kind, commit);
        }
    }
    scheduler_commit_send(commit);
}
