#include "server/job/desk_internal.h"

#include <string.h>

struct graph_entry *desk_graph_find(const struct desk *desk, const struct ask *ask)
{
    struct graph_entry *entry = graph_table_find(desk->graphs, ask->tenant, ask->key);
    if (entry != NULL) {
        return entry;
    }
    const struct job *job = desk_find_job(desk, ask, ask->key);
    return job != NULL ? graph_table_find(desk->graphs, ask->tenant, job->graph_id) : NULL;
}

void desk_graph_show(struct desk *desk, struct ask *ask)
{
    const struct graph_entry *entry = desk_graph_find(desk, ask);
    if (entry == NULL) {
        desk_answer_no_such(ask);
    } else {
        desk_answer_graph(ask, entry, 200);
    }
}

static void deleted(struct desk_change *change)
{
    struct desk *desk = change->desk;
    struct ask *ask = change->ask;
    if (change->change.status == STATUS_OK) {
        graph_table_remove(desk->graphs, change->entry);
        log_write(LOG_INFO, "graph_deleted", LOG_TEXT("graph", change->deleted_id));
        ask->status = STATUS_OK;
        ask->http_status = 204;
        desk_answer(ask);
    } else {
        change->entry->deleting = false;
        desk_answer_status(ask, change->change.status, "The state directory cannot be written.");
    }
    desk_accept_unpark(desk, change->deleted_id);
}

/* Queries stop at once; the rows and files go next. */
static void hide_results(struct desk *desk, struct graph_entry *entry)
{
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (entry->results[kind] != NULL) {
            desk_result_retire(desk, entry, kind);
        }
    }
}

void desk_graph_delete(struct desk *desk, struct ask *ask)
{
    struct graph_entry *entry = desk_graph_find(desk, ask);
    if (entry == NULL) {
        desk_answer_no_such(ask);
        return;
    }
    memcpy(ask->graph_id, entry->row.id, sizeof(ask->graph_id));
    if (entry->active_jobs > 0) {
        desk_answer_status(ask, STATUS_GRAPH_IN_USE,
                           "A queued or running job uses this graph: cancel it or let it end.");
        return;
    }
    struct desk_change *change;
    if (desk_change_create(desk, deleted, &change) != STATUS_OK) {
        desk_answer_status(ask, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        return;
    }
    memcpy(change->deleted_id, entry->row.id, sizeof(entry->row.id));
    change->change.delete_graph_id = change->deleted_id;
    change->ask = ask;
    change->entry = entry;
    entry->deleting = true;
    hide_results(desk, entry);
    desk_change_send(change);
}
