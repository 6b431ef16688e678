#include "proto/check.h"
#include "proto/writer.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"
#include "server/store/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The end of a job and its way to the disk ---- */

/* Whoever asked for it, once it is on the disk, or cannot be. */
static void answer_kept(struct desk_change *change)
{
    if (change->change.status == STATUS_OK) {
        desk_answer_job(change->desk, change->ask, change->job);
    } else {
        desk_answer_status(change->ask, change->change.status,
                           "The state directory cannot be written.");
    }
}

static void ended(struct desk_change *change)
{
    struct job *job = change->job;
    bool stored = change->change.status == STATUS_OK;
    if (change->result != NULL && stored && change->entry->results[job->kind] == change->result) {
        change->entry->durable[job->kind] = true;
    }
    if (change->ask != NULL) {
        answer_kept(change);
    }
    if (stored) {
        desk_finish_committed(change->desk, job);
    }
}

/* Without memory for the change the row stays as it was: the job is solved again after a restart.
 */
static void store_end(struct desk *desk, struct job *job, struct graph_entry *entry,
                      struct result *result, struct ask *ask)
{
    struct desk_change *change = NULL;
    enum status status = desk_change_create(desk, ended, &change);
    if (status == STATUS_OK) {
        status = desk_change_add_job(change, job);
    }
    if (status != STATUS_OK) {
        desk_change_destroy(change);
        log_write(LOG_ERROR, "job_not_stored", LOG_TEXT("job", job->id));
        if (ask != NULL) {
            desk_answer_status(ask, status, "There is not enough memory to store the job's end.");
        }
        return;
    }
    change->ask = ask;
    change->entry = entry;
    if (result != NULL) {
        change->result = result_ref(result);
        change->change.result = result;
        change->result_row = (struct result_row){.kind = job->kind, .created_s = job->finished_s};
        memcpy(change->result_row.graph_id, job->graph_id, sizeof(job->graph_id));
        snprintf(change->result_row.etag, sizeof(change->result_row.etag), "%s",
                 result_etag(result));
        change->change.result_row = &change->result_row;
    }
    desk_change_send(change);
}

static void count_end(const struct job *job)
{
    if (job->state == JOB_DONE) {
        metrics_add(METRIC_JOBS_DONE, 1);
    } else {
        metrics_add(job->state == JOB_FAILED ? METRIC_JOBS_FAILED : METRIC_JOBS_CANCELLED, 1);
    }
}

void desk_finish_store_ends(struct desk *desk)
{
    for (struct job *job = job_table_newest(desk->jobs); job != NULL; job = job->older) {
        if (!job_state_is_final(job->state) || job->committed || job->changes > 0) {
            continue;
        }
        struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
        const bool brings = job->state == JOB_DONE && entry != NULL && !entry->durable[job->kind];
        store_end(desk, job, entry, brings ? entry->results[job->kind] : NULL, NULL);
    }
}

static void log_end(const struct job *job)
{
    char event[32];
    snprintf(event, sizeof(event), "job_%s", job_state_name(job->state));
    const struct problem *problem = &job->report.problem;
    char trace_id[TRACE_ID_SIZE];
    job_trace_id(job, trace_id);
    log_write(
        job->state == JOB_FAILED ? LOG_WARNING : LOG_INFO, event, LOG_TEXT("job", job->id),
        LOG_TEXT("trace_id", trace_id), LOG_TEXT("graph", job->graph_id),
        LOG_NUMBER("total_s", job->report.timings.total_s),
        LOG_NUMBER("compute_s", job->report.timings.compute_s),
        LOG_TEXT("code", problem->status != STATUS_OK ? status_info(problem->status)->code : ""));
}

/* The state is visible from here on. */
static void finish(struct desk *desk, struct job *job, enum job_state state, struct result *result,
                   struct ask *ask)
{
    struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    job->state = state;
    job->finished_s = clock_wall_s();
    desk_dispatch_unpledge(job);
    if (job->started_s > 0) {
        job->report.timings.queue_s = fmax(job->started_s - job->created_s, 0);
        job->report.timings.total_s =
            job->parse_s + fmax(job->finished_s - job->created_s, 0); /* created once parsed */
    }
    graph_destroy(desk_dispatch_take_graph(desk, job));
    count_end(job);
    desk_room_release(desk, job);
    log_end(job);
    store_end(desk, job, entry, result, ask);
    if (entry != NULL) {
        entry->active_jobs--;
    }
    desk_wait_notify(desk, job);
}

void desk_finish_cancelled(struct desk *desk, struct job *job, struct ask *ask)
{
    finish(desk, job, JOB_CANCELLED, NULL, ask);
}

void desk_finish_failed(struct desk *desk, struct job *job)
{
    finish(desk, job, JOB_FAILED, NULL, NULL);
}

/* ---- Results that are there already ---- */

/* The latest job that is done with this. */
static const struct job *find_solver(const struct desk *desk, const char *graph_id, enum kind kind)
{
    for (const struct job *job = job_table_newest(desk->jobs); job != NULL; job = job->older) {
        if (job->state == JOB_DONE && job->kind == kind && strcmp(job->graph_id, graph_id) == 0) {
            return job;
        }
    }
    return NULL;
}

bool desk_finish_is_known(const struct desk *desk, const struct graph_entry *entry,
                          const struct job *job)
{
    if (entry == NULL || entry->results[job->kind] == NULL) {
        return false;
    }
    const struct job *solver = job->verify ? find_solver(desk, job->graph_id, job->kind) : NULL;
    return !job->verify || (solver != NULL && solver->report.verification.done);
}

void desk_finish_as_known(const struct desk *desk, struct job *job)
{
    const struct job *solver = find_solver(desk, job->graph_id, job->kind);
    job->state = JOB_DONE;
    metrics_add(METRIC_JOBS_DONE, 1);
    metrics_add(METRIC_JOBS_KNOWN, 1);
    job->started_s = clock_wall_s();
    job->finished_s = job->started_s;
    if (solver != NULL) {
        const struct job_report own = job->report;
        job->report = solver->report;
        job->report.input = own.input;
        memcpy(job->report.traceparent, own.traceparent, sizeof(own.traceparent));
        job->report.cycle = NULL; /* owned by the other; a job that is done has none */
        job->report.timings = (struct timings){0};
        job->report.verification.seconds = 0;
    }
}

void desk_finish_known(struct desk *desk, struct job *job)
{
    struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    CHECK(entry != NULL);
    desk_finish_as_known(desk, job);
    desk_dispatch_unpledge(job);
    graph_destroy(desk_dispatch_take_graph(desk, job));
    desk_room_release(desk, job);
    log_end(job);
    desk_result_bind_latest(desk, job, entry);
    store_end(desk, job, entry, NULL, NULL);
    entry->active_jobs--;
    desk_wait_notify(desk, job);
}

/* ---- Work that came home ---- */

static void fill_report(struct job *job, const struct work *work)
{
    const struct solve_outcome *outcome = &work->outcome;
    struct job_report *report = &job->report;
    if (outcome->device.name[0] != '\0') {
        memcpy(report->solver, outcome->device.solver, sizeof(report->solver));
        memcpy(report->device, outcome->device.name, sizeof(report->device));
    }
    report->timings = outcome->account.timings;
    report->timings.parse_s = job->parse_s + work->parse_s;
    report->timings.write_s += work->write_s;
    report->plan = outcome->plan;
    report->verification = outcome->account.verification;
    report->cycle_weight = outcome->cycle_weight;
    report->problem = work->problem;
    report->problem.status = work->status;
}

/* What a solve took is counted whatever came of it; what it did, when it is done. */
static void count_work(const struct job *job, const struct work *work)
{
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
    if (work->status == STATUS_OK) {
        metrics_add(METRIC_RELAXATIONS, n * n * n * job->report.plan.work_fraction);
    }
}

/* The vertices by name, as JSON; NULL without a cycle or without memory, the job fails the same. */
static char *print_cycle(const struct work *work)
{
    if (work->outcome.cycle == NULL || work->names == NULL) {
        return NULL;
    }
    struct text text = {0};
    for (size_t i = 0; i < work->outcome.cycle_length; i++) {
        text_append_char(&text, i == 0 ? '[' : ',');
        writer_append_vertex(&text, work->names, work->outcome.cycle[i]);
    }
    text_append_char(&text, ']');
    if (text_status(&text) != STATUS_OK) {
        text_finish(&text);
        return NULL;
    }
    return text_take(&text, NULL);
}

static void finish_failed_work(struct desk *desk, struct job *job, struct work *work)
{
    job->report.cycle = print_cycle(work);
    if (job->report.problem.detail[0] == '\0') {
        problem_set(&job->report.problem, work->status, "%s.", status_info(work->status)->title);
    }
    desk_finish_failed(desk, job);
}

/* "r_" and a ULID: no solve has the tag of another. */
static enum status make_result(const struct job *job, struct work *work, struct result **ret_result)
{
    char etag[JOB_ID_SIZE];
    enum status status = identity_new("r_", clock_wall_s(), etag);
    if (status != STATUS_OK) {
        return status;
    }
    return result_create(job->graph_id, etag, &work->file, &work->names, ret_result);
}

static void finish_solved(struct desk *desk, struct job *job, struct work *work)
{
    struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    CHECK(entry != NULL);
    struct result *result = NULL;
    enum status status = make_result(job, work, &result);
    if (status == STATUS_OK) {
        desk_damage_watch(desk, result);
        status = desk_result_publish(desk, entry, result);
    }
    if (status != STATUS_OK) {
        problem_set(&job->report.problem, status, "The result cannot be published.");
        desk_finish_failed(desk, job);
    } else {
        job->state = JOB_DONE;
        desk_result_bind_latest(desk, job, entry);
        finish(desk, job, JOB_DONE, result, NULL);
        double seconds = job->finished_s - job->started_s;
        metrics_observe(METRICS_JOB_SECONDS, fmax(job->finished_s - job->created_s, 0));
        desk->typical_solve_s += (seconds - desk->typical_solve_s) / 4;
        desk_result_evict(desk, result);
    }
    if (result != NULL) {
        result_unref(result);
    }
}

/* Its row says queued still, or again. */
void desk_finish_put_back(struct desk *desk, struct job *job)
{
    job->state = JOB_QUEUED;
    job->started_s = 0;
    job->stop_reason = STATUS_OK;
    job_report_reset(&job->report);
    atomic_store(&job->signal->cancelled, false);
    desk_dispatch_queue(desk, job);
    metrics_add(METRIC_JOBS_PUT_BACK, 1);
    log_write(LOG_INFO, "job_put_back", LOG_TEXT("job", job->id));
    desk_wait_notify(desk, job);
}

void desk_finish_stopped(struct desk *desk, struct job *job)
{
    if (job->stop_reason == STATUS_DRAINING) {
        desk_finish_put_back(desk, job);
    } else if (job->stop_reason == STATUS_DEADLINE_EXCEEDED) {
        problem_set(&job->report.problem, STATUS_DEADLINE_EXCEEDED,
                    "The job was still running %g seconds after it was accepted.", job->deadline_s);
        desk_finish_failed(desk, job);
    } else {
        job->report.problem = (struct problem){0};
        desk_finish_cancelled(desk, job, NULL);
    }
}

/* Who was accepted was promised the memory that the device had when it was opened. Others may have
 * taken of it: then it is tried again, or another device is, for about as many seconds. */
static bool waits_for_memory(struct job *job, const struct work *work)
{
    return work->status == STATUS_NO_DEVICE_MEMORY && ++job->attempts < MEMORY_ATTEMPT_LIMIT;
}

/* Taken is taken: it waits for the disk, whoever has filled it. What failed for something else,
 * want of memory, open files, a limit on the size of files, may go well a little later, or never.
 */
static bool waits_for_room(const struct desk *desk, struct job *job, const struct work *work)
{
    if (!work->is_passing) {
        return false;
    }
    const bool full = store_free_bytes(desk->store) < job->promised_bytes;
    return (work->status == STATUS_DISK_FULL && full) || ++job->attempts < ATTEMPT_LIMIT;
}

void desk_finish_work(struct desk *desk, struct job *job, struct work *work,
                      const struct work_load *load)
{
    fill_report(job, work);
    count_work(job, work);
    if (work->graph_damaged) {
        desk_note_damaged_graph(desk, job->graph_id);
    }
    if (work->status == STATUS_DEVICE_LOST) {
        desk_loss_job(desk, job, load);
    } else if (work->status == STATUS_CANCELLED || job->stop_reason == STATUS_CANCELLED) {
        /* Whoever was told that it is being cancelled will find it so, had it just been solved. */
        desk_finish_stopped(desk, job);
    } else if (work->status == STATUS_OK) {
        job->report.problem = (struct problem){0};
        finish_solved(desk, job, work);
    } else if (waits_for_room(desk, job, work)) {
        desk_finish_put_back(desk, job);
        if (work->status == STATUS_DISK_FULL) {
            desk_room_note_full(desk);
        } else {
            desk_room_pause(desk);
        }
    } else if (waits_for_memory(job, work)) {
        desk_dispatch_turn_from(desk, load->context);
        desk_finish_put_back(desk, job);
        desk_room_pause(desk);
    } else {
        finish_failed_work(desk, job, work);
    }
}

/* ---- Cancels, deadlines, forgetting ---- */

static void stop_running(struct job *job, enum status reason)
{
    if (job->stop_reason == STATUS_OK || job->stop_reason == STATUS_DRAINING) {
        job->stop_reason = reason;
    }
    atomic_store(&job->signal->cancelled, true);
}

/* Its row says cancelled before that is acknowledged: whatever happens, it does not run again. */
static void cancel_running(struct desk *desk, struct job *job, struct ask *ask)
{
    struct desk_change *change = NULL;
    stop_running(job, STATUS_CANCELLED);
    job->stop_reason = STATUS_CANCELLED; /* even after its deadline */
    enum status status = desk_change_create(desk, answer_kept, &change);
    if (status == STATUS_OK) {
        status = desk_change_add_job(change, job);
    }
    if (status != STATUS_OK) {
        desk_change_destroy(change);
        desk_answer_status(ask, status, "There is not enough memory to store the job's end.");
        return;
    }
    change->ask = ask;
    change->job_row.state = JOB_CANCELLED;
    change->job_row.finished_s = clock_wall_s();
    desk_change_send(change);
}

void desk_finish_cancel(struct desk *desk, struct ask *ask)
{
    struct job *job = desk_find_job(desk, ask, ask->key);
    if (job == NULL) {
        desk_answer_no_such(ask);
        return;
    }
    memcpy(ask->job_id, job->id, sizeof(ask->job_id));
    if (job_state_is_final(job->state)) {
        struct problem problem;
        problem_set(&problem, STATUS_JOB_FINISHED, "The job is %s already.",
                    job_state_name(job->state));
        desk_answer_problem(ask, &problem);
    } else if (job->state == JOB_RUNNING) {
        cancel_running(desk, job, ask);
    } else {
        job_queue_remove(&desk->queue, job);
        desk_finish_cancelled(desk, job, ask);
    }
}

void desk_finish_deadline(struct desk *desk, struct job *job)
{
    if (job->state == JOB_RUNNING) {
        stop_running(job, STATUS_DEADLINE_EXCEEDED);
        return;
    }
    job_queue_remove(&desk->queue, job);
    problem_set(&job->report.problem, STATUS_DEADLINE_EXCEEDED,
                "The job was still queued %g seconds after it was accepted.", job->deadline_s);
    desk_finish_failed(desk, job);
}

static struct job *find_forgettable(const struct desk *desk)
{
    for (struct job *job = job_table_oldest(desk->jobs); job != NULL; job = job->newer) {
        if (job->committed && job->changes == 0) {
            return job;
        }
    }
    return NULL;
}

static bool forget(struct desk *desk, struct job *job)
{
    struct desk_change *change;
    if (desk_change_create(desk, NULL, &change) != STATUS_OK) {
        return false;
    }
    memcpy(change->deleted_id, job->id, sizeof(job->id));
    change->change.delete_job_id = change->deleted_id;
    struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    if (entry != NULL && strcmp(entry->latest_job, job->id) == 0) {
        entry->latest_job[0] = '\0';
    }
    result_table_remove(desk->results, tenant_number(job->tenant), job->id);
    job_table_remove(desk->jobs, job);
    desk->history--;
    desk_change_send(change);
    return true;
}

void desk_finish_committed(struct desk *desk, struct job *job)
{
    job->committed = true;
    desk->history++;
    while (desk->history > desk->config->history_limit) {
        struct job *oldest = find_forgettable(desk);
        if (oldest == NULL || !forget(desk, oldest)) {
            return;
        }
    }
}
