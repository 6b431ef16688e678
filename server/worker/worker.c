#include "server/worker/worker.h"

#include "server/clock.h"
#include "server/store/graph_file.h"
#include "server/worker/supervisor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The solvers keep their matrices on the heap; this is for deep library frames. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)
#define CPU_SOLVER_NICENESS 10
/* Search range of the vertex limit: n * n * 8 of a larger n would leave 64 bits. */
#define VERTEX_LIMIT_CEILING (UINT32_C(1) << 30)
/* Large enough for rounds to be what a solve takes its time for. */
#define PACE_VERTICES 8192
/* The memory of a GPU that is left to the context of another process, which solves on all of
 * them together: so many bytes, but never more than a part. */
#define GROUP_CONTEXT_BYTES (UINT64_C(768) << 20)
#define GROUP_CONTEXT_PARTS 8

/* ---- Estimates ---- */

/* Some solvers compute u2 by way of i4: both matrices are in memory then. */
static bool is_narrowed(const struct solver *solver, enum kind kind)
{
    return kind == KIND_U2 && !solver_supports(solver, KIND_U2);
}

/* A kind that the host computes, for a device that does not, has no known pace. */
void worker_estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, struct solver_estimate *ret_estimate)
{
    const struct solve_options plain = {0};
    const enum kind computed = is_narrowed(solver, kind) ? KIND_I4 : kind;
    size_t wide_bytes;
    *ret_estimate = (struct solver_estimate){.seconds = -1};
    if (solver_supports(solver, computed)) {
        solver_estimate(solver, vertex_count, edge_count, computed, &plain, ret_estimate);
    }
    if (computed != kind && matrix_size(vertex_count, computed, &wide_bytes) == STATUS_OK) {
        ret_estimate->host_bytes += wide_bytes;
    }
}

enum status worker_estimate_graph(const struct solver *solver, const struct graph *graph,
                                  enum kind kind, struct solver_estimate *ret_estimate,
                                  struct plan_summary *ret_plan)
{
    struct solver_estimate outline;
    worker_estimate(solver, graph->vertex_count, graph->edge_count, kind, &outline);
    if (outline.seconds < 0) {
        *ret_estimate = outline;
        *ret_plan = (struct plan_summary){.work_fraction = 1};
        return STATUS_OK;
    }
    const enum status status = solve_estimate_planned(solver, graph, kind, ret_estimate, ret_plan);
    ret_estimate->host_bytes = outline.host_bytes;
    ret_estimate->device_bytes = outline.device_bytes;
    return status;
}

/* ---- Opening the solver ---- */

/* By the memory that the host has and not by what is free of it now: the limit stands for as long
 * as the service runs, and what fills memory at the start is mostly file cache, which gives way.
 * The result's own storage is worked in, so it counts as well. */
static bool fits_host(uint64_t matrix_bytes, uint64_t beside_bytes)
{
    const uint64_t memory_bytes = host_memory_total();
    return beside_bytes <= memory_bytes && matrix_bytes <= memory_bytes - beside_bytes;
}

/* A device, on the other hand, is the service's own: what others hold of it they keep. Only n
 * edges are counted. */
static bool fits(const struct solver *solver, const struct solver_device *gpu, uint32_t n,
                 enum kind kind)
{
    const bool narrowed = is_narrowed(solver, kind);
    const enum kind computed = narrowed ? KIND_I4 : kind;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    size_t matrix_bytes;
    if (matrix_size(n, computed, &matrix_bytes) != STATUS_OK ||
        (narrowed && !fits_host(matrix_bytes, matrix_bytes / 2))) {
        return false;
    }
    if (!solver_supports(solver, computed)) {
        return fits_host(matrix_bytes, 0);
    }
    solver_estimate(solver, n, n, computed, &plain, &estimate);
    return gpu != NULL ? estimate.device_bytes <= gpu->memory_free_bytes
                       : fits_host(matrix_bytes, estimate.host_bytes);
}

/* The limits on the vertices of a graph, and the pace of large solves. */
static void measure(const struct solver *solver, bool gpu, struct worker_facts *facts)
{
    const double n = PACE_VERTICES;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        uint32_t low = 0;
        uint32_t high = VERTEX_LIMIT_CEILING;
        while (low < high) {
            const uint32_t middle = low + (high - low + 1) / 2;
            if (fits(solver, gpu ? &facts->device : NULL, middle, kind)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        facts->vertex_limit[kind] = low;
        /* u2 takes the pace of i4, whichever way it comes about. */
        const enum kind computed = kind == KIND_U2 ? KIND_I4 : kind;
        struct solver_estimate estimate;
        worker_estimate(solver, PACE_VERTICES, PACE_VERTICES, computed, &estimate);
        facts->pace_s[kind] = estimate.seconds > 0 ? estimate.seconds / (n * n * n) : 0;
    }
}

/* Answers go before a solver that keeps every core busy. On Linux a thread has a niceness of its
 * own, which those that the solver starts inherit. Down from where the service is. */
static void lower_priority(void)
{
    const id_t thread = (id_t)gettid();
    const int niceness = getpriority(PRIO_PROCESS, thread) + CPU_SOLVER_NICENESS;
    (void)setpriority(PRIO_PROCESS, thread, niceness);
}

static enum status open_cpu(const struct worker_setup *setup, const struct ranks *ranks,
                            struct solver **ret_solver, struct problem *reterr)
{
    lower_priority();
    return ranks != NULL ? solver_open_rank(&setup->solver, ranks, ret_solver, reterr)
                         : solver_cpu_open(&setup->solver, ret_solver, reterr);
}

static void open_solver(const struct worker_setup *setup, const struct ranks *ranks,
                        struct solver **ret_solver, struct worker_facts *ret_facts)
{
    struct worker_facts facts = {0};
    char reason[SOLVER_REASON_SIZE];
    *ret_solver = NULL;
    if (!setup->gpu) {
        facts.status = open_cpu(setup, ranks, ret_solver, &facts.problem);
    } else if ((facts.gpu_count = solver_gpu_count(reason)) == 0) {
        facts.status = problem_set(&facts.problem, STATUS_NO_DEVICE, "%s", reason);
    } else {
        const uint32_t members = setup->gpu_members > 0 ? setup->gpu_members : facts.gpu_count;
        facts.status = solver_gpu_open(setup->gpu_index, members, ret_solver, &facts.problem);
    }
    if (facts.status == STATUS_OK) {
        solver_allow_plans(*ret_solver, &setup->solver);
        solver_describe(*ret_solver, &facts.device);
        if (setup->gpu_members == 1 && facts.gpu_count > 1 && setup->sharing) {
            const uint64_t part = facts.device.memory_free_bytes / GROUP_CONTEXT_PARTS;
            facts.device.memory_free_bytes -=
                part < GROUP_CONTEXT_BYTES ? part : GROUP_CONTEXT_BYTES;
        }
        measure(*ret_solver, strcmp(facts.device.solver, "gpu") == 0, &facts);
    }
    *ret_facts = facts;
}

/* ---- An update in place of a solve ---- */

/* Works in a copy of the base, of whose pages only those that change are taken. */
static enum status update_arcs(const struct hierarchy *base, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    if (task->arc_count == 0) {
        return STATUS_TOO_LARGE;
    }
    enum status status = result_copy(task->base, task->file, &bytes);
    if (status == STATUS_OK) {
        status = solve_update_hierarchy(base, task->graph, task->arcs, task->arc_count, &observer,
                                        bytes, &task->outcome);
    }
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        task->status = task_check_result(task, result_file_discard_copy(task->file));
    }
    return status;
}

static enum status update_weights(const struct hierarchy *base, uint32_t threads, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size;
    const enum status status =
        solve_customize(base, task->graph, threads, &observer, &bytes, &size, &task->outcome);
    if (status == STATUS_OK) {
        task->status = task_write_result(task, bytes, size);
    }
    free(bytes);
    return status;
}

/* Takes the changed arcs where there are few, else all weights, unless those would do no better.
 * What is left to the solver has no round behind it, as far as anybody who watches it knows. */
static void update_hierarchy(uint32_t threads, struct task *task)
{
    const struct hierarchy *base = NULL;
    enum status status = result_open_hierarchy(task->base, &base);
    if (status == STATUS_OK) {
        status = update_arcs(base, task);
        task->is_followed = status == STATUS_OK;
        if (status != STATUS_OK && status != STATUS_CANCELLED && status != STATUS_NOT_VERIFIED &&
            task->status == STATUS_OK) {
            status = update_weights(base, threads, task);
        }
    }
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    if (status == STATUS_CANCELLED) {
        task->status = status;
    } else if (status != STATUS_OK) {
        atomic_store(&task->signal->rounds_done, 0);
        atomic_store(&task->signal->rounds_total, 0);
    }
}

void worker_update(uint32_t threads, struct task *task)
{
    if (task->base == NULL || task->status != STATUS_OK ||
        (task->graph == NULL && task_read_graph(task) != STATUS_OK)) {
        return; /* the solver tells what is wrong with the graph */
    }
    update_hierarchy(threads, task);
}

/* ---- The loop ---- */

struct loop {
    const struct worker_setup *setup;
    const struct ranks *ranks; /* NULL = it is alone */
    struct solver *solver;
    struct solver *fallback; /* a CPU solver for kinds that the GPU lacks, opened when needed */
};

/* By the processor, also where the solver is a GPU: a hierarchy is small. */
static enum status solve_task_hierarchy(const struct loop *loop, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size = 0;
    struct order_record record = {0};
    enum status status = task->graph == NULL ? task_read_graph(task) : STATUS_OK;
    if (status == STATUS_OK) {
        task_read_record(task, &record);
        status = solve_hierarchy(task->graph, task->kind, loop->setup->solver.cpu_threads, &record,
                                 &observer, &bytes, &size, &task->outcome, &task->problem);
    }
    task_keep_record(task, &record);
    if (status == STATUS_OK) {
        status = task_write_result(task, bytes, size);
    }
    free(bytes);
    return status;
}

/* The others hear of each task its kind. That of no task is the end, or a meeting. */
#define LEAVE KIND_AUTO
#define MEET KIND_COUNT
static void share_kind(const struct ranks *ranks, enum kind *kind)
{
    ranks->await(ranks->context, kind, sizeof(*kind));
}

void worker_meet(const struct ranks *ranks)
{
    enum kind kind = MEET;
    share_kind(ranks, &kind);
    (void)ranks_agree(ranks, STATUS_OK);
}

static enum status share_task(const struct ranks *ranks, struct task *task)
{
    enum kind kind = task->kind;
    share_kind(ranks, &kind);
    const enum status status = ranks_share_graph(ranks, STATUS_OK, &task->graph);
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "A rank has no memory for the graph.");
    }
    return STATUS_OK;
}

static enum status solve_task(struct loop *loop, struct task *task)
{
    enum status status = STATUS_OK;
    if (atomic_load(&task->signal->cancelled)) {
        return STATUS_CANCELLED;
    }
    if (task->form == RESULT_FORM_HIERARCHY) {
        return solve_task_hierarchy(loop, task);
    }
    if (task->kind != KIND_U2 && !solver_supports(loop->solver, task->kind) &&
        loop->fallback == NULL) {
        status = solver_cpu_open(&loop->setup->solver, &loop->fallback, &task->problem);
        if (status == STATUS_OK) {
            solver_allow_plans(loop->fallback, &loop->setup->solver);
        }
    }
    if (status == STATUS_OK && task->graph == NULL) {
        status = task_read_graph(task);
    }
    if (status == STATUS_OK && loop->ranks != NULL) {
        status = share_task(loop->ranks, task);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct observer observer = task_signal_observer(task->signal);
    struct order_record record = {.observer = &observer};
    /* Also where none is kept: a search for a plan hears of a cancel by it. */
    const struct solve_request request = {
        .kind = task->kind, .verify = task->verify, .record = &record};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    task_read_record(task, &record);
    status = solve_graph(loop->solver, loop->fallback, task->graph, &request, &observer, &matrix,
                         &task->outcome, &task->problem);
    task->outcome.account.statistics = NULL;
    if (status == STATUS_OK) {
        status = task_write_result(task, NULL, 0);
    }
    task_keep_record(task, &record);
    return status;
}

void worker_run_loop(const struct worker_setup *setup, const struct worker_transport *transport,
                     const struct ranks *ranks)
{
    struct loop loop = {.setup = setup, .ranks = ranks};
    struct worker_facts facts;
    struct task *task;
    enum kind none = LEAVE;
    open_solver(setup, ranks, &loop.solver, &facts);
    transport->opened(transport->context, &facts, loop.solver);
    while ((task = transport->next(transport->context)) != NULL) {
        if (task->status == STATUS_OK && !task->is_updated) {
            task->status = solve_task(&loop, task);
        }
        if (task->status == STATUS_NO_DEVICE) {
            task->status = STATUS_DEVICE_LOST; /* it was there when the solver was opened */
        }
        transport->done(transport->context, task, loop.solver);
    }
    if (ranks != NULL) {
        share_kind(ranks, &none);
    }
    solver_close(loop.fallback);
    solver_close(loop.solver);
}

/* A failure is the first rank's to tell: they all have agreed on it. */
static enum status follow_task(struct solver *solver, enum kind kind)
{
    struct graph *graph = NULL;
    struct solve_outcome outcome = {0};
    struct problem problem;
    enum status status = ranks_share_graph(solver->ranks, STATUS_OK, &graph);
    if (status == STATUS_OK) {
        const struct solve_request request = {.kind = kind};
        struct matrix matrix = {graph->vertex_count, kind, NULL};
        status = solve_graph(solver, NULL, graph, &request, NULL, &matrix, &outcome, &problem);
        solve_outcome_finish(&outcome);
        graph_destroy(graph);
    }
    return status;
}

void worker_follow(const struct worker_setup *setup, const struct ranks *ranks)
{
    struct solver *solver = NULL;
    struct problem problem;
    enum kind kind = LEAVE;
    (void)open_cpu(setup, ranks, &solver, &problem);
    for (share_kind(ranks, &kind); kind != LEAVE; share_kind(ranks, &kind)) {
        (void)(kind == MEET ? ranks_agree(ranks, STATUS_OK) : follow_task(solver, kind));
    }
    solver_close(solver);
}

/* ---- The thread ---- */

static void thread_opened(void *context, const struct worker_facts *facts, struct solver *solver)
{
    struct worker *worker = context;
    worker->solver = solver;
    worker->config.opening->facts = *facts;
    supervisor_post_opening(worker);
}

static struct task *thread_next(void *context)
{
    const struct worker *worker = context;
    const struct worker_config *config = &worker->config;
    const struct task_folders folders = {config->graph_folder, config->result_folder, false,
                                         config->order_folder, config->plan_budget_bytes};
    /* The message is the first member of its task. */
    struct task *task = (struct task *)mailbox_wait(worker->mailbox);
    if (task != NULL && atomic_load(&worker->health.state) == WORKER_LOST) {
        task->status = STATUS_DEVICE_LOST; /* as of the task before it */
    } else if (task != NULL) {
        task_open_files(&folders, task);
        worker_update(config->setup.solver.cpu_threads, task);
        task_open_order_file(&folders, task);
    }
    return task;
}

static void thread_done(void *context, struct task *task, const struct solver *solver)
{
    struct worker *worker = context;
    (void)solver;
    if (task->status == STATUS_DEVICE_LOST) {
        atomic_store(&worker->health.state, WORKER_LOST);
    }
    judge_task(worker->config.sample_rows, worker->config.setup.solver.cpu_threads, &worker->pool,
               task);
    task_send_home(worker->config.home, worker->config.finished, task);
}

static void *run_thread(void *context)
{
    struct worker *worker = context;
    const struct worker_transport transport = {worker, thread_opened, thread_next, thread_done};
    if (worker->config.isolation == WORKER_PROCESS) {
        supervisor_run(worker);
    } else {
        worker_run_loop(&worker->config.setup, &transport, NULL);
    }
    return NULL;
}

static void destroy(struct worker *worker)
{
    if (worker->config.isolation == WORKER_PROCESS) {
        supervisor_finish(worker);
    }
    cpu_pool_destroy(worker->pool);
    mailbox_destroy(worker->mailbox);
    free(worker);
}

enum status worker_start(const struct worker_config *config, struct worker **ret_worker)
{
    const bool is_process = config->isolation == WORKER_PROCESS;
    struct worker *worker = calloc(1, sizeof(*worker));
    pthread_attr_t attributes;
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->config = *config;
    enum status status = is_process ? supervisor_init(worker) : STATUS_OK;
    if (status == STATUS_OK) {
        status = mailbox_create(is_process ? supervisor_wake : NULL, worker, &worker->mailbox);
    }
    if (status == STATUS_OK) {
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
        if (pthread_create(&worker->thread, &attributes, run_thread, worker) != 0) {
            status = STATUS_NO_MEMORY;
        }
        pthread_attr_destroy(&attributes);
    }
    if (status != STATUS_OK) {
        destroy(worker);
        return status;
    }
    *ret_worker = worker;
    return STATUS_OK;
}

void worker_give(struct worker *worker, struct task *task)
{
    mailbox_post(worker->mailbox, &task->message);
}

struct task_signal *worker_signal(const struct worker *worker)
{
    return worker->process.shared != NULL ? &worker->process.shared->signal : NULL;
}

const struct worker_health *worker_health_of(const struct worker *worker)
{
    return &worker->health;
}

void worker_note_delivered(struct worker *worker)
{
    atomic_store(&worker->health.is_opening_posted, false);
}

const struct solver *worker_solver(const struct worker *worker)
{
    return worker->solver;
}

void worker_hurry(struct worker *worker)
{
    atomic_store(&worker->process.is_hurried, true);
}

void worker_dismiss(struct worker *worker)
{
    worker_hurry(worker);
    atomic_store(&worker->is_stopping, true);
    mailbox_close(worker->mailbox);
    if (worker->config.isolation == WORKER_PROCESS) {
        supervisor_wake(worker);
    }
}

void worker_stop(struct worker *worker)
{
    if (worker == NULL) {
        return;
    }
    worker_dismiss(worker);
    CHECK(pthread_join(worker->thread, NULL) == 0);
    destroy(worker);
}
