#include "proto/text.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_CEILING 1000

static uint32_t limit_of(const struct ask *ask)
{
    if (ask->limit == 0) {
        return LIMIT_DEFAULT;
    }
    return ask->limit < LIMIT_CEILING ? ask->limit : LIMIT_CEILING;
}

static void begin_list(struct text *text, const char *member)
{
    text_printf(text, "{\"%s\":[", member);
}

/* document is freed here; NULL makes the answer fail as a whole. */
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
static void answer_list(struct ask *ask, struct text *text, const char *next)
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
    desk_answer_body(ask, 200, body);
}

static bool is_listed(const struct job *job, const struct ask *ask)
{
    return job->accepted && job->tenant == ask->tenant &&
           (!ask->filter_state || job->state == ask->state);
}

static const struct job *next_listed_job(const struct job *job, const struct ask *ask)
{
    while (job != NULL && !is_listed(job, ask)) {
        job = job->older;
    }
    return job;
}

/* Ids sort by time of creation, so a cursor whose job is forgotten still has a place. */
static const struct job *first_job_after(const struct desk *desk, const struct ask *ask)
{
    const struct job *last = desk_find_job(desk, ask, ask->cursor);
    if (last != NULL) {
        return next_listed_job(last->older, ask);
    }
    const struct job *job = job_table_newest(desk->jobs);
    while (ask->cursor[0] != '\0' && job != NULL && strcmp(job->id, ask->cursor) >= 0) {
        job = job->older;
    }
    return next_listed_job(job, ask);
}

void desk_list_jobs(struct desk *desk, struct ask *ask)
{
    struct text text = {0};
    const struct job *job = first_job_after(desk, ask);
    const struct job *last = NULL;
    uint32_t count = 0;
    begin_list(&text, "jobs");
    while (job != NULL && count < limit_of(ask)) {
        append_document(&text, count++, desk_answer_print_job(desk, job));
        last = job;
        job = next_listed_job(job->older, ask);
    }
    answer_list(ask, &text, job != NULL && last != NULL ? last->id : NULL);
}

static const struct graph_entry *next_listed_graph(const struct graph_entry *entry,
                                                   const struct ask *ask)
{
    while (entry != NULL &&
           (!entry->committed || entry->deleting || entry->tenant != ask->tenant)) {
        entry = entry->older;
    }
    return entry;
}

void desk_list_graphs(struct desk *desk, struct ask *ask)
{
    const struct graph_entry *entry = graph_table_newest(desk->graphs);
    if (ask->cursor[0] != '\0') {
        const struct graph_entry *cursor =
            graph_table_find_own(desk->graphs, ask->tenant, ask->cursor);
        if (cursor == NULL) {
            desk_answer_status(ask, STATUS_BAD_PARAMETER,
                               "The cursor's graph is gone; begin anew.");
            return;
        }
        entry = cursor->older;
    }
    entry = next_listed_graph(entry, ask);
    struct text text = {0};
    const struct graph_entry *last = NULL;
    uint32_t count = 0;
    begin_list(&text, "graphs");
    while (entry != NULL && count < limit_of(ask)) {
        append_document(&text, count++, desk_answer_print_graph(entry, NULL));
        last = entry;
        entry = next_listed_graph(entry->older, ask);
    }
    answer_list(ask, &text, entry != NULL && last != NULL ? last->row.id : NULL);
}
