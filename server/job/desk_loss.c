#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <stdio.h>
#include <string.h>

/* A job that costs so many workers is not tried again. */
#define WORKERS_LOST_LIMIT 3

static void describe(const struct work_load *load, char ret_text[WORK_LOSS_TEXT_SIZE])
{
    if (load->loss == WORK_LOSS_NONE) {
        snprintf(ret_text, WORK_LOSS_TEXT_SIZE, "the device failed");
    } else {
        work_loss_describe(load->loss, load->loss_code, ret_text);
    }
}

static void fail(struct desk *desk, struct job *job, const struct work_load *load)
{
    char reason[WORK_LOSS_TEXT_SIZE];
    describe(load, reason);
    problem_set(&job->report.problem, STATUS_POISON_JOB,
                "The job was tried %u times and took the solver with it each time; the last time "
                "%s.",
                job->report.workers_lost, reason);
    problem_hint(&job->report.problem,
                 "Other jobs are not affected. The service's log has more about each time.");
    atomic_fetch_add(&desk->admission.poisoned, 1);
    desk_finish_failed(desk, job);
}

/* Counted: until here the job was running for whoever asked, so that it could be stopped. */
static void counted(struct desk_change *change)
{
    struct desk *desk = change->desk;
    struct job *job = change->job;
    if (job->stop_reason != STATUS_OK) {
        desk_finish_stopped(desk, job);
    } else {
        desk_finish_put_back(desk, job);
    }
    desk_dispatch(desk);
}

/* Without memory for the change it is counted in memory alone. */
static void count(struct desk *desk, struct job *job)
{
    struct desk_change *change = NULL;
    enum status status = desk_change_create(desk, counted, &change);
    if (status == STATUS_OK) {
        status = desk_change_add_job(change, job);
    }
    if (status == STATUS_OK) {
        desk_change_send(change);
        return;
    }
    desk_change_destroy(change);
    log_write(LOG_ERROR, "job_not_stored", LOG_TEXT("job", job->id));
    desk_finish_put_back(desk, job);
}

void desk_loss_job(struct desk *desk, struct job *job, const struct work_load *load)
{
    metrics_add(METRIC_DEVICES_LOST, 1);
    const bool thread = desk->config->isolation == WORKER_THREAD;
    /* A worker that was lost before it had the load has nothing against the job. */
    const bool blamed = thread || load->loss != WORK_LOSS_NONE;
    char reason[WORK_LOSS_TEXT_SIZE];
    describe(load, reason);
    job->report.workers_lost += blamed;
    log_write(LOG_ERROR, "job_lost_its_worker", LOG_TEXT("job", job->id),
              LOG_TEXT("device", job->report.device), LOG_TEXT("reason", reason),
              LOG_NUMBER("workers_lost", job->report.workers_lost));
    if (job->stop_reason != STATUS_OK && job->stop_reason != STATUS_DRAINING) {
        desk_finish_stopped(desk, job);
    } else if (job->report.workers_lost >= WORKERS_LOST_LIMIT) {
        fail(desk, job, load);
    } else if (blamed) {
        count(desk, job);
    } else {
        desk_finish_put_back(desk, job);
    }
    if (thread) {
        /* What holds the device is this process, which must be left. */
        desk_tell_lost(desk, STATUS_DEVICE_LOST);
    }
}
