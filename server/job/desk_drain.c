#include "server/job/desk_internal.h"

static bool is_running(const struct desk *desk)
{
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        if (desk->workers[i]->load.count > 0) {
            return true;
        }
    }
    return false;
}

void desk_drain_check(struct desk *desk)
{
    if (!desk->draining || desk->drained_told || desk->changes > 0 || desk->submissions > 0 ||
        desk->looks > 0 || is_running(desk)) {
        return;
    }
    desk->drained_told = true;
    uv_timer_stop(&desk->drain_alarm);
    uv_timer_stop(&desk->alarm);
    uv_timer_stop(&desk->room_tick);
    desk_watch_end(desk);
    log_write(LOG_INFO, "drained", LOG_NUMBER("queued", desk->queue.count));
    desk->drained(desk->drained_context);
}

static void stop_job(struct job *job)
{
    if (job != NULL && job->stop_reason == STATUS_OK) {
        job->stop_reason = STATUS_DRAINING;
        atomic_store(&job->signal->cancelled, true);
    }
}

void desk_drain_faster(struct desk *desk)
{
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        struct desk_worker *seat = desk->workers[i];
        for (uint32_t j = 0; j < seat->load.count; j++) {
            stop_job(seat->jobs[j]);
        }
    }
}

static void drain_rung(uv_timer_t *alarm)
{
    desk_drain_faster(alarm->data);
}

void desk_drain(struct desk *desk, void (*drained)(void *context), void *context)
{
    desk->draining = true;
    desk->drained = drained;
    desk->drained_context = context;
    atomic_store(&desk->admission.draining, true);
    desk_count(desk);
    log_write(LOG_INFO, "draining", LOG_NUMBER("queued", desk->queue.count));
    desk_wait_end(desk);
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        worker_hurry(desk->workers[i]->worker);
    }
    uv_update_time(desk->loop);
    uv_timer_start(&desk->drain_alarm, drain_rung, (uint64_t)desk->config->drain_s * 1000, 0);
    desk_drain_check(desk);
}
