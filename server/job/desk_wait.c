#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <math.h>

/* Half an hour: no alarm is set further ahead, so that the milliseconds stay small. */
#define ALARM_LIMIT_S 1800.0

static void release(struct desk *desk, struct ask *ask, struct job *job)
{
    if (ask->kind == ASK_EVENTS) {
        desk_watch_answer(desk, ask, job);
    } else if (ask->kind == ASK_RESULT) {
        desk_result_answer(desk, ask);
    } else {
        desk_answer_job(desk, ask, job);
    }
}

void desk_wait_hold(struct desk *desk, struct ask *ask, struct job *job, double expires_at_s)
{
    ask->job = job;
    ask->expires_at_s = expires_at_s;
    ask->previous_waiter = NULL;
    ask->next_waiter = job->waiters;
    if (job->waiters != NULL) {
        job->waiters->previous_waiter = ask;
    }
    job->waiters = ask;
    desk_leave_watch(desk, ask);
}

static void take_off(struct desk *desk, struct ask *ask)
{
    desk_leave_forget(desk, ask);
    if (ask->kind == ASK_EVENTS) {
        desk_watch_forget(desk, ask);
    }
    if (ask->previous_waiter != NULL) {
        ask->previous_waiter->next_waiter = ask->next_waiter;
    } else {
        ask->job->waiters = ask->next_waiter;
    }
    if (ask->next_waiter != NULL) {
        ask->next_waiter->previous_waiter = ask->previous_waiter;
    }
}

void desk_wait_release(struct desk *desk, struct ask *ask)
{
    take_off(desk, ask);
    release(desk, ask, ask->job);
}

void desk_wait(struct desk *desk, struct ask *ask, struct job *job)
{
    if (desk->draining || !(ask->wait_s > 0) || job_state_is_final(job->state)) {
        release(desk, ask, job);
        return;
    }
    desk_wait_hold(desk, ask, job, clock_monotonic_s() + ask->wait_s);
    desk_wait_until(desk, ask->expires_at_s);
}

/* Answers those waiters of a job for whom `is_over` holds. */
static void release_where(struct desk *desk, struct job *job, double now_s,
                          bool (*is_over)(const struct ask *ask, double now_s))
{
    struct ask *next;
    for (struct ask *ask = job->waiters; ask != NULL; ask = next) {
        next = ask->next_waiter;
        if (is_over(ask, now_s)) {
            desk_wait_release(desk, ask);
        }
    }
}

static bool always(const struct ask *ask, double now_s)
{
    (void)ask;
    (void)now_s;
    return true;
}

/* Streams of events go on until the drain has come to its end. */
static bool is_poll(const struct ask *ask, double now_s)
{
    (void)now_s;
    return ask->kind != ASK_EVENTS;
}

static bool on_any_change(const struct ask *ask, double now_s)
{
    (void)now_s;
    return !ask->wait_until_final && ask->kind != ASK_RESULT;
}

static bool expired(const struct ask *ask, double now_s)
{
    return ask->expires_at_s <= now_s;
}

void desk_wait_notify(struct desk *desk, struct job *job)
{
    release_where(desk, job, 0, job_state_is_final(job->state) ? always : on_any_change);
}

void desk_wait_end(struct desk *desk)
{
    for (struct job *job = job_table_newest(desk->jobs); job != NULL; job = job->older) {
        release_where(desk, job, 0, is_poll);
    }
}

void desk_wait_until(struct desk *desk, double at_s)
{
    if (desk->alarm_at_s > 0 && desk->alarm_at_s <= at_s) {
        return;
    }
    double now_s = clock_monotonic_s();
    double ahead_s = fmin(fmax(at_s - now_s, 0), ALARM_LIMIT_S);
    desk->alarm_at_s = now_s + ahead_s;
    uv_update_time(desk->loop);
    uv_timer_start(&desk->alarm, desk_wait_rung, (uint64_t)ceil(ahead_s * 1000), 0);
}

static void set_for_job(struct desk *desk, const struct job *job)
{
    if (job->deadline_at_s > 0 && !job_state_is_final(job->state) &&
        job->stop_reason == STATUS_OK) {
        desk_wait_until(desk, job->deadline_at_s);
    }
    for (const struct ask *ask = job->waiters; ask != NULL; ask = ask->next_waiter) {
        if (ask->kind != ASK_EVENTS) { /* these have a tick of their own */
            desk_wait_until(desk, ask->expires_at_s);
        }
    }
}

void desk_wait_rung(uv_timer_t *alarm)
{
    struct desk *desk = alarm->data;
    double now_s = clock_monotonic_s();
    desk->alarm_at_s = 0;
    struct job *older;
    for (struct job *job = job_table_newest(desk->jobs); job != NULL; job = older) {
        older = job->older;
        release_where(desk, job, now_s, expired);
        if (job->accepted && !job_state_is_final(job->state) && job->deadline_at_s > 0 &&
            job->deadline_at_s <= now_s) {
            desk_finish_deadline(desk, job);
        }
        set_for_job(desk, job);
    }
    desk_count(desk);
}
