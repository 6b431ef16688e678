#include "proto/text.h"
#include "server/job/scheduler_internal.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_CEILING 1000
/* A page ends where it gets this long: it is there whole before it is sent. */
#define PAGE_BYTES ((size_t)262144)

/* ---- Lists ---- */

static uint32_t limit_of(const struct call *call)
{
    if (call->limit == 0) {
        return LIMIT_DEFAULT;
    }
    return call->limit < LIMIT_CEILING ? call->limit : LIMIT_CEILING;
}

/* Takes the document; NULL makes the answer fail as a whole. */
static void append_document(struct text *text, uint32_t index, char *document)
{
    if (index > 0) {
        text_append_char(text, ',');
    }
    if (document == NULL) {
        text->failed = true;
        return;
    }
    text_append_string(text, document);
    free(document);
}

/* next: the id to go on after, NULL at the end. */
static void answer_list(struct call *call, struct text *text, const char *next)
{
    text_append_string(text, "],\"next\":");
    if (next != NULL) {
        text_append_json_string(text, next, strlen(next));
    } else {
        text_append_string(text, "null");
    }
    text_append_char(text, '}');
    char *body = text_status(text) == STATUS_OK ? text_take(text, NULL) : NULL;
    text_finish(text);
    answer_body(call, 200, body);
}

static const struct job *next_listed_job(const struct job *job, const struct call *call)
{
    while (job != NULL && (!job->accepted || job->tenant != call->tenant ||
                           (call->filter_state && job->state != call->state))) {
        job = job->older;
    }
    return job;
}

/* Ids sort by time of creation, so a cursor whose job is forgotten still has a place. */
void requests_list_jobs(struct scheduler *scheduler, struct call *call)
{
    struct text text = {0};
    const struct job *last = answer_find_job(scheduler, call, call->cursor);
    const struct job *job = last != NULL ? last->older : job_table_newest(scheduler->jobs);
    while (last == NULL && call->cursor[0] != '\0' && job != NULL &&
           strcmp(job->id, call->cursor) >= 0) {
        job = job->older;
    }
    job = next_listed_job(job, call);
    text_append_string(&text, "{\"jobs\":[");
    for (uint32_t count = 0; job != NULL && count < limit_of(call) && text.size < PAGE_BYTES;
         count++) {
        append_document(&text, count, answer_print_job(scheduler, job));
        last = job;
        job = next_listed_job(job->older, call);
    }
    answer_list(call, &text, job != NULL && last != NULL ? last->id : NULL);
}

static const struct graph_entry *next_listed_graph(const struct graph_entry *entry,
                                                   const struct call *call)
{
    while (entry != NULL &&
           (!entry->committed || entry->deleting || entry->tenant != call->tenant)) {
        entry = entry->older;
    }
    return entry;
}

void requests_list_graphs(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = graph_table_newest(scheduler->graphs);
    if (call->cursor[0] != '\0') {
        const struct graph_entry *cursor =
            graph_table_find_own(scheduler->graphs, call->tenant, call->cursor);
        if (cursor == NULL) {
            answer_status(call, STATUS_BAD_PARAMETER, "The cursor's graph is gone; begin anew.");
            return;
        }
        entry = cursor->older;
    }
    entry = next_listed_graph(entry, call);
    struct text text = {0};
    const struct graph_entry *last = NULL;
    text_append_string(&text, "{\"graphs\":[");
    for (uint32_t count = 0; entry != NULL && count < limit_of(call) && text.size < PAGE_BYTES;
         count++) {
        append_document(&text, count, answer_print_graph(entry, NULL));
        last = entry;
        entry = next_listed_graph(entry->older, call);
    }
    answer_list(call, &text, entry != NULL && last != NULL ? last->row.id : NULL);
}

/* ---- Single jobs and graphs ---- */

void requests_show_job(struct scheduler *scheduler, struct call *call)
{
    struct job *job = answer_find_job(scheduler, call, call->key);
    if (job == NULL) {
        answer_no_such(call);
    } else {
        waiters_wait(scheduler, call, job);
    }
}

void requests_show_graph(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL) {
        answer_no_such(call);
    } else {
        answer_graph(call, entry, 200);
    }
}

static void deletion_stored(struct commit *commit)
{
    struct scheduler *scheduler = commit->scheduler;
    scheduler->marks.deletions_ended = true;
    if (commit->change.status == STATUS_OK) {
        graph_table_remove(scheduler->graphs, commit->entry);
        log_write(LOG_INFO, "graph_deleted", LOG_TEXT("graph", commit->deleted_id));
        answer_empty(commit->call, 204);
    } else {
        commit->entry->deleting = false;
        answer_status(commit->call, commit->change.status,
                      "The state directory cannot be written.");
    }
}

/* Queries stop at once; the rows and files go next. */
void requests_delete_graph(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    struct commit *commit;
    if (entry == NULL) {
        answer_no_such(call);
        return;
    }
    memcpy(call->graph_id, entry->row.id, sizeof(call->graph_id));
    if (entry->active_jobs > 0) {
        answer_status(call, STATUS_GRAPH_IN_USE,
                      "A queued or running job uses this graph: cancel it or let it end.");
        return;
    }
    if (commit_create(scheduler, deletion_stored, &commit) != STATUS_OK) {
        answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        return;
    }
    memcpy(commit->deleted_id, entry->row.id, sizeof(entry->row.id));
    commit->change.delete_graph_id = commit->deleted_id;
    commit->call = call;
    commit->entry = entry;
    entry->deleting = true;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (entry->results[kind] != NULL) {
            results_retire(scheduler, entry, kind);
        }
    }
    commit_send(commit);
}

/* ---- Results ---- */

/* A call that may wait has the graph solved, unless its latest job failed: it would fail again. */
void requests_call_result(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL && answer_find_job(scheduler, call, call->key) != NULL) {
        answer_status(call, STATUS_NO_SUCH_GRAPH, "The graph of this job was deleted.");
        return;
    }
    if (entry == NULL) {
        answer_no_such(call);
        return;
    }
    struct job *job = results_job_to_watch(scheduler, call);
    const bool waits = call->wait_s > 0 && !scheduler->draining && !results_has(scheduler, call);
    if (waits && job != NULL && !job_state_is_final(job->state)) {
        waiters_wait(scheduler, call, job);
    } else if (waits && (job == NULL || job->state != JOB_FAILED)) {
        submit_for_result(scheduler, call, entry, job != NULL ? job->kind : KIND_AUTO);
    } else {
        results_answer(scheduler, call);
    }
}
