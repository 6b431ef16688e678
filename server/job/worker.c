#include "server/job/worker.h"

#include "proto/check.h"
#include "server/clock.h"
#include "server/store/graph_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The solvers keep their matrices on the heap; this is for deep library frames. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)
/* Search range of the vertex limit: n * n * 8 of a larger n would leave 64 bits. */
#define VERTEX_LIMIT_CEILING (UINT32_C(1) << 30)
#define CPU_SOLVER_NICENESS 10
/* Large enough for rounds to be what a solve takes its time for. */
#define PACE_VERTICES 8192

struct worker {
    struct worker_config config;
    pthread_t thread;
    struct mailbox *mailbox;
    struct solver *solver;
    struct solver *fallback; /* a CPU solver for kinds that the GPU lacks, opened when needed */
};

void work_finish(struct work *work)
{
    graph_destroy(work->graph);
    result_file_destroy(work->file);
    vertex_names_destroy(work->names);
    solve_outcome_finish(&work->outcome);
    work->graph = NULL;
    work->file = NULL;
    work->names = NULL;
}

void work_signal_reset(struct work_signal *signal)
{
    atomic_store(&signal->rounds_done, 0);
    atomic_store(&signal->rounds_total, 0);
    atomic_store(&signal->first_round, 0);
    atomic_store(&signal->first_round_at_s, 0);
    atomic_store(&signal->round_at_s, 0);
    atomic_store(&signal->begun_at_s, 0);
    atomic_store(&signal->expected_s, 0);
    atomic_store(&signal->finish_s, 0);
}

/* A solver that begins anew, on rounding, begins a new pace. */
static void report_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct work_signal *signal = context;
    const double now_s = clock_monotonic_s();
    if (atomic_load(&signal->rounds_done) == 0 || rounds_done < atomic_load(&signal->rounds_done)) {
        atomic_store(&signal->first_round, rounds_done);
        atomic_store(&signal->first_round_at_s, now_s);
    }
    atomic_store(&signal->round_at_s, now_s);
    atomic_store(&signal->rounds_total, rounds_total);
    atomic_store(&signal->rounds_done, rounds_done);
}

static bool is_cancelled(void *context)
{
    struct work_signal *signal = context;
    return atomic_load(&signal->cancelled);
}

static uint64_t host_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

/* By the memory that the host has and not by what is free of it now: the limit stands for as long
 * as the service runs, and what fills memory at the start is mostly file cache, which gives way.
 * The result's own storage is worked in, so it counts as well. */
static bool fits_host(uint64_t matrix_bytes, uint64_t beside_bytes)
{
    uint64_t memory_bytes = host_memory_bytes();
    return beside_bytes <= memory_bytes && matrix_bytes <= memory_bytes - beside_bytes;
}

/* A device, on the other hand, is the service's own: what others hold of it they keep. Only n
 * edges are counted. */
static bool fits(const struct worker *worker, const struct solver_device *device, uint32_t n,
                 enum kind kind)
{
    size_t matrix_bytes;
    if (matrix_size(n, kind, &matrix_bytes) != STATUS_OK) {
        return false;
    }
    if (!solver_supports(worker->solver, kind)) {
        return fits_host(matrix_bytes, 0);
    }
    const struct solve_options plain = {0};
    struct solver_estimate estimate;
    solver_estimate(worker->solver, n, n, kind, &plain, &estimate);
    if (worker->config.gpu) {
        return estimate.device_bytes <= device->memory_free_bytes;
    }
    return fits_host(matrix_bytes, estimate.host_bytes);
}

/* u2 by way of i4, in memory of its own. */
static bool fits_narrowed(const struct worker *worker, const struct solver_device *device,
                          uint32_t n)
{
    size_t wide_bytes;
    return matrix_size(n, KIND_I4, &wide_bytes) == STATUS_OK && fits(worker, device, n, KIND_I4) &&
           fits_host(wide_bytes, wide_bytes / 2);
}

static bool is_narrowed(const struct worker *worker, enum kind kind)
{
    return kind == KIND_U2 && !solver_supports(worker->solver, KIND_U2);
}

static uint32_t find_vertex_limit(const struct worker *worker, const struct solver_device *device,
                                  enum kind kind)
{
    uint32_t low = 0;
    uint32_t high = VERTEX_LIMIT_CEILING;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (is_narrowed(worker, kind) ? fits_narrowed(worker, device, middle)
                                      : fits(worker, device, middle, kind)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* 0: jobs of this kind go one by one. */
static uint32_t find_batch_limit(const struct worker *worker, enum kind kind)
{
    const bool supported = solver_supports(worker->solver, kind == KIND_U2 ? KIND_I4 : kind);
    return supported ? worker->solver->class_->batch_vertices : 0;
}

/* u2 takes the pace of i4, whichever way it comes about. */
static double find_pace(const struct worker *worker, enum kind kind)
{
    const double n = PACE_VERTICES;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    const enum kind computed = kind == KIND_U2 ? KIND_I4 : kind;
    if (solver_supports(worker->solver, computed)) {
        solver_estimate(worker->solver, PACE_VERTICES, PACE_VERTICES, computed, &plain, &estimate);
    }
    return estimate.seconds / (n * n * n);
}

/* u2 by way of i4 has both matrices in memory; what the host computes for a device that does not
 * compute this kind has no known pace. */
void worker_estimate(const struct worker *worker, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, struct solver_estimate *ret_estimate)
{
    const struct solve_options plain = {0};
    const enum kind computed = is_narrowed(worker, kind) ? KIND_I4 : kind;
    size_t wide_bytes;
    *ret_estimate = (struct solver_estimate){.seconds = -1};
    if (solver_supports(worker->solver, computed)) {
        solver_estimate(worker->solver, vertex_count, edge_count, computed, &plain, ret_estimate);
    }
    if (computed != kind && matrix_size(vertex_count, computed, &wide_bytes) == STATUS_OK) {
        ret_estimate->host_bytes += wide_bytes;
    }
}

enum status worker_estimate_graph(const struct worker *worker, const struct graph *graph,
                                  enum kind kind, struct solver_estimate *ret_estimate,
                                  struct plan_summary *ret_plan)
{
    struct solver_estimate outline;
    worker_estimate(worker, graph->vertex_count, graph->edge_count, kind, &outline);
    if (outline.seconds < 0) {
        *ret_estimate = outline;
        *ret_plan = (struct plan_summary){.work_fraction = 1};
        return STATUS_OK;
    }
    const enum status status =
        solve_estimate_planned(worker->solver, graph, kind, ret_estimate, ret_plan);
    ret_estimate->host_bytes = outline.host_bytes;
    ret_estimate->device_bytes = outline.device_bytes;
    return status;
}

static enum status open_solver(struct worker *worker, struct problem *reterr)
{
    const enum status status =
        worker->config.gpu ? solver_gpu_open(worker->config.gpu_index, &worker->solver, reterr)
                           : solver_cpu_open(worker->config.solver, &worker->solver, reterr);
    if (status == STATUS_OK) {
        solver_allow_plans(worker->solver, worker->config.solver);
    }
    return status;
}

static void open_and_tell(struct worker *worker)
{
    struct worker_opening *opening = worker->config.opening;
    opening->status = open_solver(worker, &opening->problem);
    if (opening->status == STATUS_OK) {
        solver_describe(worker->solver, &opening->device);
        for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
            opening->vertex_limit[kind] = find_vertex_limit(worker, &opening->device, kind);
            opening->batch_limit[kind] = find_batch_limit(worker, kind);
            opening->pace_s[kind] = find_pace(worker, kind);
        }
    }
    mailbox_post(worker->config.home, &opening->message);
}

static enum status open_fallback(struct worker *worker, enum kind kind, struct problem *reterr)
{
    if (kind == KIND_U2 || solver_supports(worker->solver, kind) || worker->fallback != NULL) {
        return STATUS_OK;
    }
    const enum status status = solver_cpu_open(worker->config.solver, &worker->fallback, reterr);
    if (status == STATUS_OK) {
        solver_allow_plans(worker->fallback, worker->config.solver);
    }
    return status;
}

static enum status read_graph(struct worker *worker, struct work *work)
{
    if (work->graph != NULL) {
        return STATUS_OK;
    }
    double began_s = clock_monotonic_s();
    enum status status = graph_file_read(worker->config.graph_folder, work->graph_id, &work->graph);
    work->parse_s += clock_monotonic_s() - began_s;
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The stored graph %s cannot be read.",
                           work->graph_id);
    }
    return STATUS_OK;
}

static enum status make_result_file(struct worker *worker, struct work *work)
{
    double began_s = clock_monotonic_s();
    enum status status = result_file_create(worker->config.result_folder, work->graph->vertex_count,
                                            work->kind, &work->file);
    work->write_s += clock_monotonic_s() - began_s;
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "%s the result of %u vertices.",
                           status == STATUS_DISK_FULL ? "There is no room on the disk for"
                                                      : "No file can be made for",
                           work->graph->vertex_count);
    }
    return STATUS_OK;
}

static void announce(const struct worker *worker, const struct work *work)
{
    struct work_signal *signal = work->signal;
    struct solver_estimate estimate;
    solve_estimate(worker->solver, worker->fallback, work->graph, work->kind, &estimate);
    atomic_store(&signal->expected_s, estimate.seconds);
    atomic_store(&signal->finish_s, estimate.finish_s);
    atomic_store(&signal->begun_at_s, clock_monotonic_s());
}

static enum status seal(struct work *work)
{
    double began_s = clock_monotonic_s();
    enum status status = result_file_seal(work->file);
    work->write_s += clock_monotonic_s() - began_s;
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The result file cannot be sealed.");
    }
    return STATUS_OK;
}

/* All that comes before the solver. */
static enum status prepare(struct worker *worker, struct work *work)
{
    if (is_cancelled(work->signal)) {
        return STATUS_CANCELLED;
    }
    enum status status = open_fallback(worker, work->kind, &work->problem);
    if (status == STATUS_OK) {
        status = read_graph(worker, work);
    }
    return status == STATUS_OK ? make_result_file(worker, work) : status;
}

/* All that comes after it; work->status is set. */
static void complete(struct work *work)
{
    if (work->status == STATUS_OK) {
        work->status = seal(work);
    }
    if (work->graph != NULL) {
        work->names = work->graph->names;
        work->graph->names = NULL;
    }
}

static void do_work(struct worker *worker, struct work *work)
{
    work->status = prepare(worker, work);
    if (work->status == STATUS_OK) {
        struct observer observer = {work->signal, report_progress, is_cancelled};
        struct solve_request request = {.kind = work->kind, .verify = work->verify};
        struct matrix matrix = result_file_matrix(work->file);
        struct statistics statistics = *result_file_statistics(work->file);
        work->outcome.account.statistics = &statistics;
        announce(worker, work);
        work->status = solve_graph(worker->solver, worker->fallback, work->graph, &request,
                                   &observer, &matrix, &work->outcome, &work->problem);
        work->outcome.account.statistics = NULL;
    }
    complete(work);
}

/* ---- Many at once ---- */

/* A work among others on its way through the solver. */
struct passage {
    struct observer observer;
    struct statistics statistics; /* its storage is the file's */
    struct work *work;
};

static struct solve_task task_of(struct work *work, struct passage *passage)
{
    *passage = (struct passage){
        {work->signal, report_progress, is_cancelled}, *result_file_statistics(work->file), work};
    return (struct solve_task){
        .graph = work->graph,
        .request = {.kind = work->kind, .verify = work->verify},
        .observer = &passage->observer,
        .matrix = result_file_matrix(work->file),
        .outcome.account.statistics = &passage->statistics,
    };
}

static void do_works_at_once(struct worker *worker, const struct work_load *load,
                             struct solve_task *tasks, struct passage *passages)
{
    uint32_t task_count = 0;
    for (uint32_t i = 0; i < load->count; i++) {
        struct work *work = &load->works[i];
        work->status = prepare(worker, work);
        if (work->status == STATUS_OK) {
            tasks[task_count] = task_of(work, &passages[task_count]);
            task_count++;
        }
    }
    solve_graphs(worker->solver, worker->fallback, tasks, task_count);
    for (uint32_t i = 0; i < task_count; i++) {
        struct work *work = passages[i].work;
        work->status = tasks[i].status;
        work->outcome = tasks[i].outcome;
        work->outcome.account.statistics = NULL;
        work->problem = tasks[i].problem;
    }
    for (uint32_t i = 0; i < load->count; i++) {
        complete(&load->works[i]);
    }
}

/* One by one when there is but one, or no memory for more. */
static void do_load(struct worker *worker, const struct work_load *load)
{
    struct solve_task *tasks = NULL;
    struct passage *passages = NULL;
    if (load->count > 1) {
        tasks = calloc(load->count, sizeof(*tasks));
        passages = calloc(load->count, sizeof(*passages));
    }
    if (tasks != NULL && passages != NULL) {
        do_works_at_once(worker, load, tasks, passages);
    } else {
        for (uint32_t i = 0; i < load->count; i++) {
            do_work(worker, &load->works[i]);
        }
    }
    free(passages);
    free(tasks);
}

/* ---- The way home ---- */

/* What a work no longer needs. */
struct leaving {
    struct graph *graph;
    struct result_file *spoilt;
};

static struct leaving leave(struct work *work)
{
    const bool spoilt = work->status != STATUS_OK;
    struct leaving leaving = {work->graph, spoilt ? work->file : NULL};
    work->graph = NULL;
    work->file = spoilt ? NULL : work->file;
    return leaving;
}

static void free_leaving(const struct leaving *leaving)
{
    graph_destroy(leaving->graph);
    result_file_destroy(leaving->spoilt);
}

/* What the works no longer need moves to the worker, which frees it once their end is told: giving
 * back the pages and blocks of a large result takes longer than a cancel should. Of many small ones
 * there may be no memory to note it; it is freed first then. */
static void tell_and_free(struct worker *worker, struct work_load *load)
{
    struct leaving alone;
    const uint32_t count = load->count;
    struct leaving *leavings = count == 1 ? &alone : calloc(count, sizeof(*leavings));
    for (uint32_t i = 0; i < count; i++) {
        struct leaving leaving = leave(&load->works[i]);
        if (leavings != NULL) {
            leavings[i] = leaving;
        } else {
            free_leaving(&leaving);
        }
    }
    load->message.deliver = worker->config.finished;
    mailbox_post(worker->config.home, &load->message);
    for (uint32_t i = 0; i < count && leavings != NULL; i++) {
        free_leaving(&leavings[i]);
    }
    if (leavings != &alone) {
        free(leavings);
    }
}

/* A CPU solver keeps every core busy: answers go first. On Linux a thread has a niceness of its
 * own, and those that the solver starts inherit it. */
static void give_way(void)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), CPU_SOLVER_NICENESS);
}

static void *run(void *context)
{
    struct worker *worker = context;
    if (!worker->config.gpu) {
        give_way();
    }
    open_and_tell(worker);
    struct message *message;
    while ((message = mailbox_wait(worker->mailbox)) != NULL) {
        /* The message is the first member of its load. */
        struct work_load *load = (struct work_load *)message;
        do_load(worker, load);
        tell_and_free(worker, load);
    }
    solver_close(worker->fallback);
    solver_close(worker->solver);
    return NULL;
}

static int create_thread(struct worker *worker)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    int error = pthread_create(&worker->thread, &attributes, run, worker);
    pthread_attr_destroy(&attributes);
    return error;
}

enum status worker_start(const struct worker_config *config, struct worker **ret_worker)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->config = *config;
    enum status status = mailbox_create(NULL, NULL, &worker->mailbox);
    if (status == STATUS_OK && create_thread(worker) != 0) {
        status = STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        mailbox_destroy(worker->mailbox);
        free(worker);
        return status;
    }
    *ret_worker = worker;
    return STATUS_OK;
}

void worker_give(struct worker *worker, struct work_load *load)
{
    mailbox_post(worker->mailbox, &load->message);
}

void worker_stop(struct worker *worker)
{
    if (worker == NULL) {
        return;
    }
    mailbox_close(worker->mailbox);
    CHECK(pthread_join(worker->thread, NULL) == 0);
    mailbox_destroy(worker->mailbox);
    free(worker);
}
