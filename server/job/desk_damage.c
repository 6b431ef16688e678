#include "proto/check.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

/* Word from any thread of what it found damaged. */
struct notice {
    struct message message;
    struct desk *desk;
    struct result *result; /* counted; NULL: the graph's file */
    char graph_id[GRAPH_ID_SIZE];
};

/* ---- Results ---- */

static bool is_being_solved(const struct desk *desk, const char *graph_id, enum kind kind)
{
    for (const struct job *job = job_table_newest(desk->jobs); job != NULL; job = job->older) {
        if (!job_state_is_final(job->state) && job->kind == kind &&
            strcmp(job->graph_id, graph_id) == 0) {
            return true;
        }
    }
    return false;
}

static void solve_again_stored(struct desk_change *change)
{
    struct job *job = change->job;
    if (job == NULL) {
        return;
    }
    if (change->change.status != STATUS_OK) {
        desk_room_release(change->desk, job);
        desk_dispatch_unpledge(job);
        change->entry->active_jobs--;
        job_table_remove(change->desk->jobs, job);
        return;
    }
    job->accepted = true;
    log_write(LOG_INFO, "job_accepted", LOG_TEXT("job", job->id), LOG_TEXT("graph", job->graph_id),
              LOG_TEXT("kind", kind_name(job->kind)),
              LOG_TEXT("state", job_state_name(job->state)));
    desk_dispatch_queue(change->desk, job);
    desk_dispatch(change->desk);
}

/* A new job, as the jobs that are done with the result stay so. Without memory for it the next
 * question that waits has the graph solved. */
static void add_job(struct desk_change *change, enum kind kind)
{
    struct desk *desk = change->desk;
    struct graph_entry *entry = change->entry;
    struct job *job = NULL;
    if (job_create(entry->row.id, kind, clock_wall_s(), &job) != STATUS_OK) {
        return;
    }
    const struct job *solver = job_table_find(desk->jobs, entry->tenant, entry->latest_job);
    job->tenant = entry->tenant != NULL ? entry->tenant : desk->nobody;
    job->verify = solver != NULL && solver->kind == kind && solver->verify;
    job->priority = solver != NULL ? solver->priority : 0;
    struct job *added = job;
    if (job_table_add(desk->jobs, &job) != STATUS_OK) {
        job_destroy(job);
        return;
    }
    if (desk_change_add_job(change, added) != STATUS_OK) {
        job_table_remove(desk->jobs, added);
        return;
    }
    memcpy(entry->latest_job, added->id, sizeof(added->id));
    entry->active_jobs++;
    desk_dispatch_pledge(added, entry->row.vertex_count);
    desk_room_promise(desk, added, entry->row.vertex_count);
}

static void result_damaged(struct desk *desk, const struct result *result)
{
    struct graph_entry *entry = graph_table_find_id(desk->graphs, result_graph_id(result));
    const enum kind kind = result_kind(result);
    if (entry == NULL || entry->deleting || entry->results[kind] != result) {
        return;
    }
    struct desk_change *change = NULL;
    if (desk_change_create(desk, solve_again_stored, &change) != STATUS_OK) {
        return;
    }
    log_write(LOG_ERROR, "result_damaged", LOG_TEXT("graph", entry->row.id),
              LOG_TEXT("kind", kind_name(kind)));
    change->result_row.kind = kind;
    memcpy(change->result_row.graph_id, entry->row.id, sizeof(entry->row.id));
    change->change.delete_result = &change->result_row;
    change->change.quarantine = true;
    change->entry = entry;
    desk_result_retire(desk, entry, kind);
    entry->lost[kind] = true;
    if (!is_being_solved(desk, entry->row.id, kind)) {
        add_job(change, kind);
    }
    desk_change_send(change);
}

/* ---- Graph files ---- */

/* The graph stays known: whoever sends it again heals it. */
static void graph_damaged(struct desk *desk, const char *graph_id)
{
    struct graph_entry *entry = graph_table_find_id(desk->graphs, graph_id);
    struct desk_change *change = NULL;
    if (entry == NULL || entry->deleting || entry->damaged ||
        desk_change_create(desk, NULL, &change) != STATUS_OK) {
        return;
    }
    entry->damaged = true;
    log_write(LOG_ERROR, "graph_damaged", LOG_TEXT("graph", graph_id));
    memcpy(change->deleted_id, entry->row.id, sizeof(entry->row.id));
    change->change.quarantine_graph_id = change->deleted_id;
    change->entry = entry;
    desk_change_send(change);
}

/* ---- The way to the loop ---- */

/* Once the drain has been told nothing changes any more: the next start finds the damage again. */
static void deliver(struct message *message)
{
    struct notice *notice = (struct notice *)message;
    struct desk *desk = notice->desk;
    if (!desk->drained_told && notice->result != NULL) {
        result_damaged(desk, notice->result);
    } else if (!desk->drained_told) {
        graph_damaged(desk, notice->graph_id);
    }
    if (notice->result != NULL) {
        result_unref(notice->result);
    }
    free(notice);
}

static struct notice *create_notice(struct desk *desk)
{
    struct notice *notice = calloc(1, sizeof(*notice));
    if (notice != NULL) {
        notice->desk = desk;
        notice->message.deliver = deliver;
    }
    return notice;
}

/* Any thread. */
static void note_result(void *context, struct result *result)
{
    struct desk *desk = context;
    struct notice *notice = create_notice(desk);
    if (notice != NULL) {
        notice->result = result_ref(result);
        mailbox_post(desk->mailbox, &notice->message);
    }
}

void desk_damage_watch(struct desk *desk, struct result *result)
{
    result_watch(result, note_result, desk);
}

void desk_note_damaged_graph(struct desk *desk, const char *graph_id)
{
    CHECK(strlen(graph_id) < GRAPH_ID_SIZE);
    struct notice *notice = create_notice(desk);
    if (notice != NULL) {
        memcpy(notice->graph_id, graph_id, strlen(graph_id));
        mailbox_post(desk->mailbox, &notice->message);
    }
}
