#include "server/scheduler/waiters.h"

#include "proto/text.h"
#include "server/clock.h"
#include "server/scheduler/answer.h"
#include "server/scheduler/scheduler_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest delay of the alarm: half an hour. An alarm that fires early is simply set again. */
#define ALARM_LIMIT_S 1800.0
/* Interval of the checks of waiting event streams, and minimum interval of progress events. */
#define TICK_MS 500
/* Delay before a client reconnects to a lost stream, sent as `retry:`. */
#define RETRY_MS 2000
/* Smallest change of progress that is sent as an event. */
#define PROGRESS_STEP 0.001

static void alarm_rang(uv_timer_t *alarm)
{
    struct scheduler *scheduler = alarm->data;
    scheduler->alarm_at_s = 0;
    scheduler->marks.alarm_rang = true;
    scheduler_wake(scheduler);
}

/* Sets the alarm to fire at this time or earlier. */
static void set_alarm(struct scheduler *scheduler, double at_s)
{
    if (scheduler->alarm_at_s > 0 && scheduler->alarm_at_s <= at_s) {
        return;
    }
    const double now_s = clock_monotonic_s();
    const double ahead_s = fmin(fmax(at_s - now_s, 0), ALARM_LIMIT_S);
    scheduler->alarm_at_s = now_s + ahead_s;
    uv_update_time(scheduler->loop);
    uv_timer_start(&scheduler->alarm, alarm_rang, (uint64_t)ceil(ahead_s * 1000), 0);
}

void waiters_watch_deadline(struct scheduler *scheduler, const struct job *job)
{
    if (job->deadline_at_s > 0) {
        set_alarm(scheduler, job->deadline_at_s);
    }
}

static void print_event_id(const struct job *job, char id[EVENT_ID_SIZE])
{
    const double unfinished_s =
        job->row.state == JOB_RUNNING ? job->row.started_s : job->row.created_s;
    const double changed_s =
        job_state_is_final(job->row.state) ? job->row.finished_s : unfinished_s;
    snprintf(id, EVENT_ID_SIZE, "%s-%.0f", job_state_name(job->row.state), changed_s * 1000);
}

static bool is_news(const struct call *call, const struct job *job)
{
    char id[EVENT_ID_SIZE];
    print_event_id(job, id);
    return strcmp(id, call->place.seen) != 0;
}

static bool has_moved(struct scheduler *scheduler, const struct call *call, const struct job *job)
{
    return fabs(job_progress(job, clock_monotonic_s()) - call->place.progress) >= PROGRESS_STEP ||
           answer_position(scheduler, job) != call->place.position;
}

static void append_state(struct scheduler *scheduler, struct call *call, const struct job *job,
                         struct text *text)
{
    char *document = answer_print_job(scheduler, job);
    if (document == NULL) {
        text->failed = true;
        return;
    }
    print_event_id(job, call->place.seen);
    text_printf(text, "id: %s\nevent: state\ndata: ", call->place.seen);
    text_append_string(text, document);
    text_append_string(text, "\n\n");
    free(document);
}

static void append_progress(struct scheduler *scheduler, const struct call *call,
                            const struct job *job, struct text *text)
{
    const double eta_s = answer_eta_s(scheduler, job);
    const char *phase = answer_phase(job);
    const char *quote = phase != NULL ? "\"" : "";
    text_printf(text,
                "event: progress\ndata: {\"id\":\"%s\",\"state\":\"%s\",\"position\":%u,"
                "\"progress\":%.4g,\"phase\":%s%s%s,\"eta_s\":",
                job->row.id, job_state_name(job->row.state), call->place.position,
                call->place.progress, quote, phase != NULL ? phase : "null", quote);
    if (eta_s >= 0) {
        text_printf(text, "%.3f}\n\n", eta_s);
    } else {
        text_append_string(text, "null}\n\n");
    }
}

/* Answers with the current part of the event stream. The call must not be on any list. */
static void answer_piece(struct scheduler *scheduler, struct call *call, const struct job *job)
{
    struct event_place *place = &call->place;
    struct text text = {0};
    const bool moved = has_moved(scheduler, call, job);
    place->ended = job_state_is_final(job->row.state) || scheduler->stage == SCHEDULER_DRAINED ||
                   atomic_load(&call->client_left);
    place->position = answer_position(scheduler, job);
    place->progress = job_progress(job, clock_monotonic_s());
    if (!place->begun) {
        text_printf(&text, "retry: %d\n\n", RETRY_MS);
    }
    if (is_news(call, job) || place->ended) {
        append_state(scheduler, call, job, &text);
    } else if (moved) {
        append_progress(scheduler, call, job, &text);
    } else if (place->begun) {
        text_append_string(&text, ": still here\n\n");
    }
    place->begun = true;
    answer_body(call, 200, text_take(&text, NULL));
}

static void answer_waiter(struct scheduler *scheduler, struct call *call, const struct job *job)
{
    if (call->kind == CALL_EVENTS) {
        answer_piece(scheduler, call, job);
    } else if (call->kind == CALL_RESULT) {
        answer_result(scheduler, call);
    } else {
        answer_job(scheduler, call, job);
    }
}

/* Ends the wait of a call and answers it with the current state. */
static void release_call(struct scheduler *scheduler, struct call *call)
{
    const struct job *job = call->job;
    call->job = NULL;
    LIST_REMOVE(call, of_job);
    LIST_REMOVE(call, in_waiting);
    if (call->kind == CALL_EVENTS && --scheduler->event_count == 0) {
        uv_timer_stop(&scheduler->watch_tick);
    }
    answer_waiter(scheduler, call, job);
}

/* Sends progress made since the last tick, and heartbeats that are due. */
static void watch_ticked(uv_timer_t *tick)
{
    struct scheduler *scheduler = tick->data;
    const double now_s = clock_monotonic_s();
    struct call *next;
    for (struct call *call = LIST_FIRST(&scheduler->waiting); call != NULL; call = next) {
        next = LIST_NEXT(call, in_waiting);
        if (call->kind == CALL_EVENTS &&
            (call->expires_at_s <= now_s || has_moved(scheduler, call, call->job))) {
            release_call(scheduler, call);
        }
    }
}

static void hold_call(struct scheduler *scheduler, struct call *call, struct job *job,
                      double wait_s)
{
    call->job = job;
    call->expires_at_s = clock_monotonic_s() + wait_s;
    LIST_INSERT_HEAD(&job->waiters, call, of_job);
    LIST_INSERT_HEAD(&scheduler->waiting, call, in_waiting);
    if (call->kind != CALL_EVENTS) {
        set_alarm(scheduler, call->expires_at_s);
    } else if (scheduler->event_count++ == 0) {
        uv_update_time(scheduler->loop);
        uv_timer_start(&scheduler->watch_tick, watch_ticked, TICK_MS, TICK_MS);
    }
}

void waiters_hold(struct scheduler *scheduler, struct call *call, struct job *job)
{
    if (scheduler->stage != SCHEDULER_SERVES || atomic_load(&call->client_left) ||
        !(call->wait_s > 0) || job_state_is_final(job->row.state)) {
        answer_waiter(scheduler, call, job);
    } else {
        hold_call(scheduler, call, job, call->wait_s);
    }
}

void waiters_stream(struct scheduler *scheduler, struct call *call)
{
    struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
    if (job == NULL) {
        answer_no_such(call);
    } else if (!call->place.begun && job_state_is_final(job->row.state) &&
               (call->place.seen[0] == '\0' || !is_news(call, job))) {
        /* A client without a Last-Event-ID or with the last ID gets no event of a finished job. */
        answer_empty(call, 204);
    } else if (!call->place.begun || is_news(call, job) || scheduler->stage == SCHEDULER_DRAINED ||
               atomic_load(&call->client_left)) {
        answer_piece(scheduler, call, job);
    } else {
        hold_call(scheduler, call, job, scheduler->config->heartbeat_s);
    }
}

void waiters_mark_changed(struct scheduler *scheduler, struct job *job)
{
    if (!job->is_changed) {
        job->is_changed = true;
        job->next_changed = scheduler->marks.changed;
        scheduler->marks.changed = job;
    }
}

void waiters_wake(struct scheduler *scheduler)
{
    while (scheduler->marks.changed != NULL) {
        struct job *job = scheduler->marks.changed;
        const bool is_final = job_state_is_final(job->row.state);
        scheduler->marks.changed = job->next_changed;
        job->is_changed = false;
        struct call *next;
        for (struct call *call = LIST_FIRST(&job->waiters); call != NULL; call = next) {
            next = LIST_NEXT(call, of_job);
            if (is_final || call->kind == CALL_JOB || call->kind == CALL_EVENTS) {
                release_call(scheduler, call);
            }
        }
    }
}

void waiters_expire(struct scheduler *scheduler)
{
    const double now_s = clock_monotonic_s();
    struct call *next;
    for (struct call *call = LIST_FIRST(&scheduler->waiting); call != NULL; call = next) {
        next = LIST_NEXT(call, in_waiting);
        const bool has_left = atomic_load(&call->client_left);
        if (has_left) {
            log_write(LOG_DEBUG, "client_left", LOG_TEXT("job", call->job->row.id));
        }
        if (has_left || call->expires_at_s <= now_s) {
            release_call(scheduler, call);
        } else if (call->kind != CALL_EVENTS) {
            set_alarm(scheduler, call->expires_at_s);
        }
    }
}

void waiters_end(struct scheduler *scheduler, bool streams)
{
    struct call *next;
    for (struct call *call = LIST_FIRST(&scheduler->waiting); call != NULL; call = next) {
        next = LIST_NEXT(call, in_waiting);
        if ((call->kind == CALL_EVENTS) == streams) {
            release_call(scheduler, call);
        }
    }
}
