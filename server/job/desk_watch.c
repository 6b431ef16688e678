#include "proto/text.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a waiting stream is looked at: progress is told no more often. */
#define TICK_MS 500
/* Milliseconds until a client that lost its stream comes again. */
#define RETRY_MS 2000
/* Progress that is not worth telling. */
#define PROGRESS_STEP 0.001

static double changed_s(const struct job *job)
{
    if (job_state_is_final(job->state)) {
        return job->finished_s;
    }
    return job->state == JOB_RUNNING ? job->started_s : job->created_s;
}

static void print_event_id(const struct job *job, char id[EVENT_ID_SIZE])
{
    snprintf(id, EVENT_ID_SIZE, "%s-%.0f", job_state_name(job->state), changed_s(job) * 1000);
}

static uint32_t position_of(struct desk *desk, const struct job *job)
{
    return job->state == JOB_QUEUED ? job_queue_position(&desk->queue, job) : 0;
}

static bool is_news(const struct ask *ask, const struct job *job)
{
    char id[EVENT_ID_SIZE];
    print_event_id(job, id);
    return strcmp(id, ask->place.seen) != 0;
}

static bool has_moved(struct desk *desk, const struct ask *ask, const struct job *job)
{
    return fabs(job_progress(job) - ask->place.progress) >= PROGRESS_STEP ||
           position_of(desk, job) != ask->place.position;
}

/* ---- The pieces ---- */

static void append_state(struct desk *desk, struct ask *ask, const struct job *job,
                         struct text *text)
{
    char *document = desk_answer_print_job(desk, job);
    if (document == NULL) {
        text->failed = true;
        return;
    }
    print_event_id(job, ask->place.seen);
    text_printf(text, "id: %s\nevent: state\ndata: ", ask->place.seen);
    text_append_string(text, document);
    text_append_string(text, "\n\n");
    free(document);
}

static void append_progress(struct desk *desk, const struct ask *ask, const struct job *job,
                            struct text *text)
{
    double eta_s = desk_dispatch_eta_s(desk, job);
    text_printf(text,
                "event: progress\ndata: {\"id\":\"%s\",\"state\":\"%s\",\"position\":%u,"
                "\"progress\":%.4f,\"eta_s\":",
                job->id, job_state_name(job->state), ask->place.position, ask->place.progress);
    if (eta_s >= 0) {
        text_printf(text, "%.3f}\n\n", eta_s);
    } else {
        text_append_string(text, "null}\n\n");
    }
}

static void append_piece(struct desk *desk, struct ask *ask, const struct job *job,
                         struct text *text)
{
    bool moved = has_moved(desk, ask, job);
    ask->place.position = position_of(desk, job);
    ask->place.progress = job_progress(job);
    if (!ask->place.begun) {
        text_printf(text, "retry: %d\n\n", RETRY_MS);
    }
    if (is_news(ask, job) || ask->place.ended) {
        append_state(desk, ask, job, text);
    } else if (moved) {
        append_progress(desk, ask, job, text);
    } else if (ask->place.begun) {
        text_append_string(text, ": still here\n\n");
    }
    ask->place.begun = true;
}

void desk_watch_answer(struct desk *desk, struct ask *ask, struct job *job)
{
    struct text text = {0};
    ask->place.ended = job_state_is_final(job->state) || desk->drained_told || ask->client_left;
    append_piece(desk, ask, job, &text);
    char *body = text_status(&text) == STATUS_OK ? text_take(&text, NULL) : NULL;
    text_finish(&text);
    desk_answer_body(ask, 200, body);
}

/* A client that comes after the end has missed nothing if it says nothing, or knows the end. */
static bool has_nothing_to_come(const struct ask *ask, const struct job *job)
{
    return !ask->place.begun && job_state_is_final(job->state) &&
           (ask->place.seen[0] == '\0' || !is_news(ask, job));
}

static void answer_empty(struct ask *ask)
{
    ask->status = STATUS_OK;
    ask->http_status = 204;
    desk_answer(ask);
}

/* ---- Waiting ---- */

static void hold(struct desk *desk, struct ask *ask, struct job *job)
{
    if (desk->watchers == NULL) {
        uv_update_time(desk->loop);
        uv_timer_start(&desk->watch_tick, desk_watch_ticked, TICK_MS, TICK_MS);
    }
    ask->previous_watcher = NULL;
    ask->next_watcher = desk->watchers;
    if (desk->watchers != NULL) {
        desk->watchers->previous_watcher = ask;
    }
    desk->watchers = ask;
    desk_wait_hold(desk, ask, job, clock_monotonic_s() + desk->config->heartbeat_s);
}

void desk_watch_forget(struct desk *desk, struct ask *ask)
{
    if (ask->previous_watcher != NULL) {
        ask->previous_watcher->next_watcher = ask->next_watcher;
    } else {
        desk->watchers = ask->next_watcher;
    }
    if (ask->next_watcher != NULL) {
        ask->next_watcher->previous_watcher = ask->previous_watcher;
    }
    if (desk->watchers == NULL) {
        uv_timer_stop(&desk->watch_tick);
    }
}

void desk_watch(struct desk *desk, struct ask *ask)
{
    struct job *job = desk_find_job(desk, ask, ask->key);
    if (job == NULL) {
        desk_answer_no_such(ask);
    } else if (has_nothing_to_come(ask, job)) {
        answer_empty(ask);
    } else if (!ask->place.begun || is_news(ask, job) || desk->drained_told) {
        desk_watch_answer(desk, ask, job);
    } else {
        hold(desk, ask, job);
    }
}

/* Progress that has shown since, or a sign of life when its time has come. */
void desk_watch_ticked(uv_timer_t *tick)
{
    struct desk *desk = tick->data;
    double now_s = clock_monotonic_s();
    struct ask *next;
    for (struct ask *ask = desk->watchers; ask != NULL; ask = next) {
        next = ask->next_watcher;
        if (ask->expires_at_s <= now_s || has_moved(desk, ask, ask->job)) {
            desk_wait_release(desk, ask);
        }
    }
}

void desk_watch_end(struct desk *desk)
{
    while (desk->watchers != NULL) {
        desk_wait_release(desk, desk->watchers);
    }
}
