#include "proto/check.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"

#include <math.h>
#include <string.h>

#define PACE_VERTICES_MIN 1024

struct graph *desk_dispatch_take_graph(struct desk *desk, struct job *job)
{
    desk->kept_bytes -= job_graph_bytes(job);
    struct graph *graph = job->graph;
    job->graph = NULL;
    return graph;
}

void desk_dispatch_pledge(struct job *job, uint32_t vertex_count)
{
    size_t bytes;
    if (job->pledged_bytes == 0 && result_file_size(vertex_count, job->kind, &bytes) == STATUS_OK) {
        job->pledged_bytes = bytes;
        atomic_fetch_add(&job->tenant->pledged_bytes, bytes);
    }
}

void desk_dispatch_unpledge(struct job *job)
{
    atomic_fetch_sub(&job->tenant->pledged_bytes, job->pledged_bytes);
    job->pledged_bytes = 0;
}

void desk_dispatch_queue(struct desk *desk, struct job *job)
{
    const struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    job->vertex_count = entry != NULL ? entry->row.vertex_count : 0;
    desk_dispatch_pledge(job, job->vertex_count);
    job_queue_push(&desk->queue, &job->tenant->share, job);
    if (job->deadline_at_s > 0) {
        desk_wait_until(desk, job->deadline_at_s);
    }
    desk_count(desk);
}

static bool is_idle(const struct desk_worker *seat)
{
    return seat->load.count == 0 &&
           atomic_load(&worker_health_of(seat->worker)->state) == WORKER_READY;
}

static uint32_t count_idle(const struct desk *desk)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        count += is_idle(desk->workers[i]);
    }
    return count;
}

/* What a worker is given: what its device holds. The largest is given all: a job may have been
 * accepted when there was a larger one. */
static void find_limits(const struct desk *desk, const struct desk_worker *seat,
                        uint32_t ret_limit[KIND_COUNT])
{
    memcpy(ret_limit, seat->opening.facts.vertex_limit, sizeof(seat->opening.facts.vertex_limit));
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        bool largest = true;
        for (uint32_t i = 0; i < desk->worker_count; i++) {
            largest &= desk->workers[i]->opening.facts.vertex_limit[kind] <= ret_limit[kind];
        }
        if (largest) {
            ret_limit[kind] = UINT32_MAX;
        }
    }
}

static void add_work(struct desk_worker *seat, const struct graph_entry *entry, struct job *job)
{
    const uint32_t index = seat->load.count;
    struct work *work = &seat->works[index];
    struct work_signal *signal = worker_signal(seat->worker, index);
    job->signal = signal != NULL ? signal : &job->own_signal;
    work_signal_reset(job->signal);
    *work = (struct work){
        .graph = desk_dispatch_take_graph(seat->desk, job),
        .kind = job->kind,
        .verify = job->verify,
        .vertex_count = job->vertex_count,
        .edge_count = entry->row.edge_count,
        .negative = entry->row.summary.negative,
        .signal = job->signal,
    };
    memcpy(work->job_id, job->id, sizeof(job->id));
    memcpy(work->graph_id, job->graph_id, sizeof(job->graph_id));
    seat->jobs[seat->load.count++] = job;
}

static void start_job(struct desk *desk, struct desk_worker *seat, const struct graph_entry *entry,
                      struct job *job)
{
    job->state = JOB_RUNNING;
    job->started_s = clock_wall_s();
    snprintf(job->report.solver, sizeof(job->report.solver), "%s",
             seat->opening.facts.device.solver);
    snprintf(job->report.device, sizeof(job->report.device), "%s", seat->opening.facts.device.name);
    add_work(seat, entry, job);
    char trace_id[TRACE_ID_SIZE];
    job_trace_id(job, trace_id);
    log_write(LOG_INFO, "job_started", LOG_TEXT("job", job->id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("device", seat->opening.facts.device.name),
              LOG_NUMBER("queue_s", job->started_s - job->created_s));
    metrics_observe(METRICS_QUEUE_SECONDS, fmax(job->started_s - job->created_s, 0));
    desk_wait_notify(desk, job);
}

/* ---- What goes together ---- */

/* What a load may still take. */
struct room {
    uint32_t jobs;
    size_t bytes;
};

/* Idle workers share what waits. */
static struct room room_of_load(const struct desk *desk, uint32_t idle_count)
{
    uint32_t share = (desk->queue.count + idle_count - 1) / idle_count;
    return (struct room){share < BATCH_JOB_LIMIT ? share : BATCH_JOB_LIMIT, BATCH_LIMIT_BYTES};
}

/* Small enough, and not of a graph that this load has already: an equal job ends without a solve
 * once the first is home. One that may have cost a worker goes alone: either the others of its load
 * did that, or it will not take them along again. */
static bool joins(const struct desk *desk, const struct desk_worker *seat,
                  const struct graph_entry *entry, const struct job *job, const struct room *room)
{
    size_t bytes;
    return entry->row.vertex_count <= seat->opening.facts.batch_limit[job->kind] &&
           job->report.workers_lost == 0 && entry->batch_number != desk->batch_number &&
           room->jobs > 0 && matrix_size(entry->row.vertex_count, job->kind, &bytes) == STATUS_OK &&
           bytes <= room->bytes;
}

static void take(struct desk *desk, struct desk_worker *seat, struct graph_entry *entry,
                 struct job *job, struct room *room)
{
    size_t bytes = 0;
    if (matrix_size(entry->row.vertex_count, job->kind, &bytes) != STATUS_OK ||
        bytes > room->bytes) {
        bytes = room->bytes;
    }
    room->bytes -= bytes;
    room->jobs--;
    entry->batch_number = desk->batch_number;
    job_queue_take(&desk->queue, job);
    start_job(desk, seat, entry, job);
}

/* The next job that the device holds; and when it is small, those behind it for as long as they are
 * small too: in the order of the queue, and past none that is not. */
static void collect(struct desk *desk, struct desk_worker *seat, struct room room)
{
    struct job *job;
    uint32_t limit[KIND_COUNT];
    bool open = true;
    find_limits(desk, seat, limit);
    desk->batch_number++;
    while (open && (job = job_queue_first_within(&desk->queue, limit)) != NULL) {
        struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
        CHECK(entry != NULL);
        /* An equal job may have ended since this one was accepted. */
        if (desk_finish_is_known(desk, entry, job)) {
            job_queue_remove(&desk->queue, job);
            desk_finish_known(desk, job);
            continue;
        }
        const bool small = joins(desk, seat, entry, job, &room);
        if (small || seat->load.count == 0) {
            take(desk, seat, entry, job, &room);
        }
        open = small;
    }
}

void desk_dispatch(struct desk *desk)
{
    uint32_t idle_count = count_idle(desk);
    for (uint32_t i = 0; i < desk->worker_count && idle_count > 0; i++) {
        struct desk_worker *seat = desk->workers[(desk->turn + i) % desk->worker_count];
        if (desk->draining || desk->paused || desk->queue.count == 0 || !is_idle(seat)) {
            continue;
        }
        collect(desk, seat, room_of_load(desk, idle_count));
        idle_count--;
        if (seat->load.count > 0) {
            seat->load.works = seat->works;
            seat->load.context = seat;
            worker_give(seat->worker, &seat->load);
        }
    }
    desk_count(desk);
}

/* What a device lacks memory for goes to another one first, when it is begun again. */
void desk_dispatch_turn_from(struct desk *desk, const struct desk_worker *seat)
{
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        desk->turn = desk->workers[i] == seat ? (i + 1) % desk->worker_count : desk->turn;
    }
}

/* Small solves say more about their beginning and end than about a pace. */
static void learn_pace(struct desk_worker *seat, const struct job *job, const struct work *work)
{
    const struct timings *t = &work->outcome.account.timings;
    double n = job->vertex_count;
    if (work->status == STATUS_OK && job->vertex_count >= PACE_VERTICES_MIN) {
        seat->opening.facts.pace_s[job->kind] =
            (t->fill_s + t->h2d_s + t->compute_s + t->d2h_s) / (n * n * n);
    }
}

/* The fastest worker's, per kind; returns how many workers there are. */
static uint32_t find_paces(const struct desk *desk, double pace_s[KIND_COUNT])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        const struct desk_worker *seat = desk->workers[i];
        const bool lost = atomic_load(&worker_health_of(seat->worker)->state) == WORKER_LOST;
        count += !lost;
        for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
            double pace = lost ? 0 : seat->opening.facts.pace_s[kind];
            if (pace > 0 && (pace_s[kind] <= 0 || pace < pace_s[kind])) {
                pace_s[kind] = pace;
            }
        }
    }
    return count;
}

/* What does not tell, as one of many may not, counts whole. */
static double load_s(const struct desk_worker *seat, double monotonic_s,
                     const double pace_s[KIND_COUNT])
{
    double seconds = 0;
    for (uint32_t i = 0; i < seat->load.count; i++) {
        const struct job *job = seat->jobs[i];
        double left_s = job != NULL ? job_eta_s(job, monotonic_s) : 0;
        seconds += left_s >= 0 ? left_s : job_expected_s(job, pace_s);
    }
    return seconds;
}

static double running_s(const struct desk *desk, double monotonic_s,
                        const double pace_s[KIND_COUNT])
{
    double seconds = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        seconds += load_s(desk->workers[i], monotonic_s, pace_s);
    }
    return seconds;
}

double desk_dispatch_eta_s(struct desk *desk, const struct job *job)
{
    double now_s = clock_monotonic_s();
    double pace_s[KIND_COUNT] = {0};
    if (job->state != JOB_QUEUED) {
        return job_eta_s(job, now_s);
    }
    uint32_t workers = find_paces(desk, pace_s);
    if (workers == 0 || pace_s[job->kind] <= 0) {
        return -1;
    }
    double before_s =
        running_s(desk, now_s, pace_s) + job_queue_seconds_ahead(&desk->queue, job, pace_s);
    return before_s / workers + job_expected_s(job, pace_s);
}

/* What the job's signal says stays with the job. */
static void take_signal(struct job *job)
{
    if (job->signal != &job->own_signal) {
        work_signal_copy(job->signal, &job->own_signal);
        job->signal = &job->own_signal;
    }
}

void desk_dispatch_finished(struct message *message)
{
    struct work_load *load = (struct work_load *)message;
    struct desk_worker *seat = load->context;
    struct desk *desk = seat->desk;
    for (uint32_t i = 0; i < load->count; i++) {
        struct job *job = seat->jobs[i];
        seat->jobs[i] = NULL;
        take_signal(job);
        learn_pace(seat, job, &load->works[i]);
        desk_finish_work(desk, job, &load->works[i], load);
        work_finish(&load->works[i]);
    }
    load->count = 0;
    desk_dispatch(desk);
    desk_drain_check(desk);
}
