#include "server/scheduler/finish.h"

#include "server/clock.h"
#include "server/scheduler/answer.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/waiters.h"
#include "server/store/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limit on the attempts of a job that fails for lack of host memory or open files. */
#define ATTEMPT_LIMIT 4
/* Limit on the attempts of a job that lacks device memory, which other processes may release
 * later. */
#define MEMORY_ATTEMPT_LIMIT 16
/* A job fails permanently after this many workers were lost while they ran it. */
#define WORKERS_LOST_LIMIT 3
/* Minimum size of a solve that measures the pace; overhead dominates the time of smaller ones. */
#define PACE_VERTICES_MIN 1024

/* Answers the cancelling call once the end of the job is on the disk, or cannot be written. */
static void answer_cancel(struct commit *commit)
{
    if (commit->change.status == STATUS_OK) {
        answer_job(commit->scheduler, commit->call, commit->job);
    } else {
        answer_not_stored(commit->call, commit->change.status);
    }
}

static void end_stored(struct commit *commit)
{
    struct job *job = commit->job;
    const bool is_stored = commit->change.status == STATUS_OK;
    if (commit->result != NULL && is_stored &&
        commit->entry->results[job->row.kind].result == commit->result) {
        commit->entry->results[job->row.kind].state = GRAPH_RESULT_DURABLE;
    }
    if (commit->call != NULL) {
        answer_cancel(commit);
    }
    if (is_stored) {
        job->durability = JOB_END_STORED; /* the history may drop the job now */
        names_end_move(commit->scheduler, &job->move);
        names_delete_old_graph(commit->scheduler, job->move.from);
        names_delete_old_graph(commit->scheduler, job->row.graph_id);
    }
}

/* Commits the end of a job. If memory runs out, the catalogue row stays unfinished, so a restart
 * solves the job again. */
static void store_end(struct scheduler *scheduler, struct job *job, struct result *result,
                      struct call *call)
{
    struct commit *commit;
    /* Only one commit at a time may assign a name; finish_store_ends tries again later. */
    if (job->row.state == JOB_DONE && commit_names(scheduler, job->tenant, job->report.moves)) {
        return;
    }
    const enum status status = commit_create_of_job(scheduler, job, end_stored, &commit);
    if (status != STATUS_OK) {
        names_end_move(scheduler, &job->move);
        log_write(LOG_ERROR, "job_not_stored", LOG_TEXT("job", job->row.id));
        if (call != NULL) {
            answer_not_stored(call, status);
        }
        return;
    }
    names_add_row(scheduler, job, commit);
    commit->call = call;
    /* Without a result the commit gets no entry, because the graph may be deleted meanwhile. */
    commit->entry = result != NULL ? job->graph : NULL;
    if (result != NULL) {
        struct store_op *op = store_add_op(&commit->change, STORE_PUT_RESULT);
        struct result_row *row = &op->result.row;
        row->kind = job->row.kind;
        row->created_s = job->row.finished_s;
        memcpy(row->graph_id, job->row.graph_id, sizeof(job->row.graph_id));
        snprintf(row->etag, sizeof(row->etag), "%s", result_etag(result));
        commit->result = result_ref(result);
        op->result.result = result;
    }
    commit_send(commit);
}

void finish_store_ends(struct scheduler *scheduler)
{
    struct job *job;
    TAILQ_FOREACH(job, &scheduler->jobs.history, in_list)
    {
        if (job->durability != JOB_END_STORED && job->changes == 0) {
            const struct graph_entry *entry = job->graph;
            const bool has_new_result = job->row.state == JOB_DONE && entry != NULL &&
                                        entry->results[job->row.kind].state != GRAPH_RESULT_DURABLE;
            store_end(scheduler, job, has_new_result ? entry->results[job->row.kind].result : NULL,
                      NULL);
        }
    }
}

/* Ends a job that has its final state: releases reservations, logs and stores the end. */
static void end_job(struct scheduler *scheduler, struct job *job, struct result *result,
                    struct call *call)
{
    const struct problem *problem = &job->report.problem;
    const struct timings timings = job->report.cached ? (struct timings){0} : job->report.timings;
    char event[32];
    ledger_release(scheduler, job->tenant, &job->held, job->held);
    free(job->arcs);
    job->arcs = NULL;
    job_table_end(&scheduler->jobs, job);
    snprintf(event, sizeof(event), "job_%s", job_state_name(job->row.state));
    log_write(
        job->row.state == JOB_FAILED ? LOG_WARNING : LOG_INFO, event, LOG_TEXT("job", job->row.id),
        LOG_TEXT("trace_id", job_trace_id(job->report.traceparent).text),
        LOG_TEXT("graph", job->row.graph_id), LOG_NUMBER("total_s", timings.total_s),
        LOG_NUMBER("compute_s", timings.compute_s),
        LOG_TEXT("code", problem->status != STATUS_OK ? status_info(problem->status)->code : ""));
    names_move(scheduler, job);
    store_end(scheduler, job, result, call);
    if (job->graph != NULL) {
        job->graph->active_jobs--;
    }
    waiters_mark_changed(scheduler, job);
}

/* Moves a job to its final state. result and call may be NULL. */
static void finish_job(struct scheduler *scheduler, struct job *job, enum job_state state,
                       struct result *result, struct call *call)
{
    struct timings *timings = &job->report.timings;
    job->row.state = state;
    job->row.finished_s = clock_wall_s();
    if (job->row.started_s > 0) {
        timings->queue_s = fmax(job->row.started_s - job->row.created_s, 0);
        timings->total_s = job->parse_s + fmax(job->row.finished_s - job->row.created_s,
                                               0); /* the job was created after parsing */
    }
    metrics_add(state == JOB_DONE     ? METRIC_JOBS_DONE
                : state == JOB_FAILED ? METRIC_JOBS_FAILED
                                      : METRIC_JOBS_CANCELLED,
                1);
    end_job(scheduler, job, result, call);
}

void finish_failed(struct scheduler *scheduler, struct job *job)
{
    finish_job(scheduler, job, JOB_FAILED, NULL, NULL);
}

void finish_known(struct scheduler *scheduler, struct job *job)
{
    queue_remove(&scheduler->queue, job);
    results_end_known_job(job);
    results_bind_latest(scheduler, job);
    end_job(scheduler, job, NULL, NULL);
}

/* Queues a job again. Its row needs no commit, because a restart queues running jobs too. */
static void put_back(struct scheduler *scheduler, struct job *job)
{
    job->row.state = JOB_QUEUED;
    job->row.started_s = 0;
    job->stop = JOB_STOP_NONE;
    job_report_reset(&job->report);
    queue_push(&scheduler->queue, &job->tenant->share, job);
    waiters_watch_deadline(scheduler, job);
    metrics_add(METRIC_JOBS_PUT_BACK, 1);
    log_write(LOG_INFO, "job_put_back", LOG_TEXT("job", job->row.id));
    waiters_mark_changed(scheduler, job);
}

/* Ends or queues a job that was stopped while it ran. */
static void finish_stopped(struct scheduler *scheduler, struct job *job)
{
    if (job->stop == JOB_STOP_DRAIN) {
        put_back(scheduler, job);
    } else if (job->stop == JOB_STOP_DEADLINE) {
        problem_set(&job->report.problem, STATUS_DEADLINE_EXCEEDED,
                    "The job was still running at its deadline, %g seconds after it was accepted.",
                    job->row.deadline_s);
        finish_failed(scheduler, job);
    } else {
        job->report.problem = (struct problem){0};
        finish_job(scheduler, job, JOB_CANCELLED, NULL, NULL);
    }
}

/* Called when the loss of the worker is on the disk. Until now clients saw the job as running. */
static void loss_stored(struct commit *commit)
{
    if (commit->job->stop != JOB_STOP_NONE) {
        finish_stopped(commit->scheduler, commit->job);
    } else {
        put_back(commit->scheduler, commit->job);
    }
}

/* Stores that the job has lost a worker. If memory for the commit runs out, the loss is counted
 * only in memory. */
static void store_loss(struct scheduler *scheduler, struct job *job)
{
    struct commit *commit;
    if (commit_create_of_job(scheduler, job, loss_stored, &commit) == STATUS_OK) {
        commit_send(commit);
        return;
    }
    log_write(LOG_ERROR, "job_not_stored", LOG_TEXT("job", job->row.id));
    put_back(scheduler, job);
}

/* Handles a job whose worker was lost. */
static void finish_lost(struct scheduler *scheduler, struct job *job, const struct task *task)
{
    const bool is_thread = scheduler->config->isolation == WORKER_THREAD;
    /* A worker lost before it received the task does not count against the job. */
    const bool is_blamed = task->loss != TASK_LOSS_NONE;
    char reason[TASK_LOSS_TEXT_SIZE];
    task_loss_describe(task->loss, task->loss_code, reason);
    metrics_add(METRIC_DEVICES_LOST, 1);
    job->report.workers_lost += is_blamed;
    log_write(LOG_ERROR, "job_worker_lost", LOG_TEXT("job", job->row.id),
              LOG_TEXT("device", job->report.device), LOG_TEXT("reason", reason),
              LOG_NUMBER("workers_lost", job->report.workers_lost));
    if (job->stop > JOB_STOP_DRAIN) {
        finish_stopped(scheduler, job);
    } else if (job->report.workers_lost >= WORKERS_LOST_LIMIT) {
        problem_set(&job->report.problem, STATUS_POISON_JOB,
                    "The solver failed all %u times that it ran this job; the last time %s.",
                    job->report.workers_lost, reason);
        problem_hint(&job->report.problem,
                     "Other jobs are not affected. The service's log has details of each failure.");
        finish_failed(scheduler, job);
    } else if (is_blamed) {
        store_loss(scheduler, job);
    } else {
        put_back(scheduler, job);
    }
    /* The device of a lost worker thread is freed only when the process exits, so it must exit. */
    if (is_thread && scheduler->lost_status == STATUS_OK) {
        scheduler->lost_status = STATUS_DEVICE_LOST;
    }
}

static void fill_report(struct job *job, const struct task *task)
{
    const struct solve_outcome *outcome = &task->outcome;
    struct job_report *report = &job->report;
    if (outcome->device.name[0] != '\0') {
        memcpy(report->solver, outcome->device.solver, sizeof(report->solver));
        memcpy(report->device, outcome->device.name, sizeof(report->device));
    }
    report->timings = outcome->account.timings;
    report->device_count = outcome->account.device_count;
    memcpy(report->devices, outcome->account.devices, sizeof(report->devices));
    report->timings.parse_s = job->parse_s + task->parse_s;
    report->timings.write_s += task->write_s;
    report->plan = outcome->plan;
    report->plan.planning_s += job->look_s;
    report->plan.cached &= !job->is_look_fresh;
    report->result.arcs = outcome->arc_count;
    report->verification = outcome->account.verification;
    report->cycle_weight = outcome->cycle_weight;
    report->problem = task->problem;
    report->problem.status = task->status;
}

/* Counts the seconds of every solve, but relaxations and pace only of a successful solve. */
static void count_task(struct scheduler *scheduler, const struct job *job, const struct task *task)
{
    const struct timings *solve = &task->outcome.account.timings;
    const struct timings *t = &job->report.timings;
    const double n = job->vertex_count;
    metrics_add(METRIC_PARSE_SECONDS, t->parse_s);
    metrics_add(METRIC_PLAN_SECONDS, job->report.plan.planning_s);
    metrics_add(METRIC_FILL_SECONDS, t->fill_s);
    metrics_add(METRIC_H2D_SECONDS, t->h2d_s);
    metrics_add(METRIC_COMPUTE_SECONDS, t->compute_s);
    metrics_add(METRIC_D2H_SECONDS, t->d2h_s);
    metrics_add(METRIC_VERIFY_SECONDS, job->report.verification.seconds);
    metrics_add(METRIC_WRITE_SECONDS, t->write_s);
    if (task->status != STATUS_OK) {
        return;
    }
    metrics_add(METRIC_RELAXATIONS, n * n * n * job->report.plan.work_fraction);
    if (job->vertex_count >= PACE_VERTICES_MIN && task->form == RESULT_FORM_MATRIX &&
        !task->is_updated) {
        scheduler->queue.pace_s[job->cost] =
            (solve->fill_s + solve->h2d_s + solve->compute_s + solve->d2h_s) / (n * n * n);
    }
}

/* Checks the quota again, because the bytes reserved for a hierarchy were an estimate. */
static enum status check_quota(struct job *job, const struct task *task)
{
    const struct quota quota = {.stored_bytes = job->quota_bytes};
    const uint64_t bytes = result_file_bytes(task->file);
    return bytes > job->held.disk_bytes
               ? tenant_check_bytes(job->tenant, &quota, bytes - job->held.disk_bytes,
                                    &job->report.problem)
               : STATUS_OK;
}

/* Publishes the result of a task. Its tag, "r_" and a ULID, is unique to this solve. */
static enum status publish_result(struct scheduler *scheduler, struct graph_entry *entry,
                                  struct task *task, struct result **ret_result)
{
    char etag[JOB_ID_SIZE];
    STATUS_TRY(identity_new("r_", clock_wall_s(), etag));
    STATUS_TRY(result_create(entry->row.id, etag, &task->file, &task->names, ret_result));
    result_take_searches(*ret_result, &task->searches);
    result_watch(*ret_result, scheduler->note_damage, scheduler);
    return results_publish(scheduler, entry, *ret_result);
}

static void finish_solved(struct scheduler *scheduler, struct job *job, struct task *task)
{
    struct result *result = NULL;
    job->report.problem = (struct problem){0};
    if (check_quota(job, task) != STATUS_OK) {
        finish_failed(scheduler, job);
        return;
    }
    const enum status status = publish_result(scheduler, job->graph, task, &result);
    if (status != STATUS_OK) {
        problem_set(&job->report.problem, status, "The result cannot be published.");
        finish_failed(scheduler, job);
    } else {
        job->report.result.bytes = result_file_bytes(result_content(result));
        job->row.state = JOB_DONE;
        results_bind_latest(scheduler, job);
        finish_job(scheduler, job, JOB_DONE, result, NULL);
        metrics_observe(METRICS_JOB_SECONDS, fmax(job->row.finished_s - job->row.created_s, 0));
        scheduler->typical_solve_s +=
            (job->row.finished_s - job->row.started_s - scheduler->typical_solve_s) / 4;
        results_evict(scheduler, result);
    }
    result_unref(result);
}

/* Retries transient failures only. On a full disk, the job waits for space without limit. Lack of
 * device memory counts as transient, because the memory sufficed when the device was opened. Lack
 * of host memory or open files may also pass. */
static void retry_or_fail(struct scheduler *scheduler, struct job *job, const struct task *task)
{
    const bool waits_for_disk = task->is_passing && task->status == STATUS_DISK_FULL &&
                                store_free_bytes(scheduler->store) < job->held.disk_bytes;
    const uint32_t limit = task->is_passing                          ? ATTEMPT_LIMIT
                           : task->status == STATUS_NO_DEVICE_MEMORY ? MEMORY_ATTEMPT_LIMIT
                                                                     : 0;
    job->attempts += limit > 0 && !waits_for_disk;
    if (job->attempts >= limit && !waits_for_disk) {
        job->report.cycle = solve_outcome_print_cycle(&task->outcome, task->names);
        if (job->report.problem.detail[0] == '\0') {
            problem_set(&job->report.problem, task->status, "%s.",
                        status_info(task->status)->title);
        }
        finish_failed(scheduler, job);
        return;
    }
    put_back(scheduler, job);
    if (task->status == STATUS_DISK_FULL) {
        ledger_note_full(scheduler);
    } else {
        ledger_pause(scheduler);
    }
    /* A job that ran out of memory on one device is tried next on the following device. */
    if (!task->is_passing) {
        const struct scheduler_worker *slot = task->context;
        scheduler->next_worker =
            (uint32_t)(slot - scheduler->workers + 1) % scheduler->worker_count;
    }
}

void finish_task(struct scheduler_worker *slot, struct job *job, struct task *task)
{
    struct scheduler *scheduler = slot->scheduler;
    /* The value is clamped, because a worker process may have written any value. */
    job->progress = fmin(fmax(job->signal->progress.shown, 0), PROGRESS_SHARE_MAX);
    job->signal = NULL;
    fill_report(job, task);
    count_task(scheduler, job, task);
    if (task->graph_damaged) {
        results_note_damaged_graph(scheduler, job->row.graph_id);
    }
    if (task->status == STATUS_DEVICE_LOST) {
        finish_lost(scheduler, job, task);
    } else if (task->status == STATUS_CANCELLED || job->stop == JOB_STOP_CANCEL) {
        /* An acknowledged cancel takes precedence, even if the job has been solved meanwhile. */
        finish_stopped(scheduler, job);
    } else if (task->status == STATUS_OK) {
        finish_solved(scheduler, job, task);
    } else {
        retry_or_fail(scheduler, job, task);
    }
    task_finish(task);
}

/* Cancels a running job. The cancel is stored before it is answered, so a restart keeps it. */
static void cancel_given(struct scheduler *scheduler, struct job *job, struct call *call)
{
    struct commit *commit;
    job_stop(job, JOB_STOP_CANCEL);
    const enum status status = commit_create_of_job(scheduler, job, answer_cancel, &commit);
    if (status != STATUS_OK) {
        answer_not_stored(call, status);
        return;
    }
    commit->call = call;
    struct job_row *row = &store_find_op(&commit->change, STORE_PUT_JOB)->job;
    row->state = JOB_CANCELLED;
    row->finished_s = clock_wall_s();
    commit_send(commit);
}

void finish_cancel(struct scheduler *scheduler, struct call *call)
{
    struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
    if (job == NULL) {
        answer_no_such(call);
        return;
    }
    memcpy(call->job_id, job->row.id, sizeof(call->job_id));
    if (job_state_is_final(job->row.state)) {
        problem_set(&call->problem, STATUS_JOB_FINISHED,
                    "The job has already ended in the state %s.", job_state_name(job->row.state));
        answer_problem(call);
    } else if (job->share == NULL) {
        cancel_given(scheduler, job, call);
    } else {
        queue_remove(&scheduler->queue, job);
        finish_job(scheduler, job, JOB_CANCELLED, NULL, call);
    }
}

static void expire_job(struct scheduler *scheduler, struct job *job)
{
    if (job->share == NULL) {
        job_stop(job, JOB_STOP_DEADLINE);
        return;
    }
    queue_remove(&scheduler->queue, job);
    problem_set(&job->report.problem, STATUS_DEADLINE_EXCEEDED,
                "The job was still queued at its deadline, %g seconds after it was accepted.",
                job->row.deadline_s);
    finish_failed(scheduler, job);
}

void finish_expired(struct scheduler *scheduler)
{
    const double now_s = clock_monotonic_s();
    struct job *next;
    for (struct job *job = TAILQ_FIRST(&scheduler->jobs.unfinished); job != NULL; job = next) {
        next = TAILQ_NEXT(job, in_list);
        if (job->deadline_at_s <= 0 || job->durability == JOB_ACCEPTING) {
            continue;
        }
        if (job->deadline_at_s <= now_s) {
            expire_job(scheduler, job);
        } else if (job->stop == JOB_STOP_NONE) {
            waiters_watch_deadline(scheduler, job);
        }
    }
}

/* Deletes the oldest finished jobs; stops at a job whose end is not stored or that is changing. */
void finish_trim_history(struct scheduler *scheduler)
{
    while (scheduler->jobs.history_count > scheduler->config->history_limit) {
        struct job *job = TAILQ_FIRST(&scheduler->jobs.history);
        struct commit *commit;
        if (job->durability != JOB_END_STORED || job->changes > 0 ||
            commit_create(scheduler, NULL, &commit) != STATUS_OK) {
            return;
        }
        memcpy(store_add_op(&commit->change, STORE_DELETE_JOB)->id, job->row.id,
               sizeof(job->row.id));
        result_table_remove(scheduler->results, tenant_number(job->tenant), job->row.id);
        job_table_remove(&scheduler->jobs, job);
        commit_send(commit);
    }
}
