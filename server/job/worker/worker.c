#include "server/job/worker/worker.h"

#include "server/clock.h"
#include "server/job/worker/supervisor.h"
#include "server/store/graph_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
/* Exit codes of a worker process beside 0, told to leave: what came over the socket made no sense;
 * from WORKER_EXIT_DEVICE on, the device failed, by class. */
#define WORKER_EXIT_PROTOCOL 79
#define WORKER_EXIT_DEVICE 80
#define HEARTBEAT_MS 200
/* Added to what the kernel thinks of the daemon: short of memory it takes the worker first. */
#define OOM_SCORE "500"

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
                                  enum kind kind, struct plan_record *record,
                                  struct solver_estimate *ret_estimate,
                                  struct plan_summary *ret_plan)
{
    struct solver_estimate outline;
    worker_estimate(solver, graph->vertex_count, graph->edge_count, kind, &outline);
    if (outline.seconds < 0) {
        *ret_estimate = outline;
        *ret_plan = (struct plan_summary){.work_fraction = 1};
        return STATUS_OK;
    }
    const enum status status =
        solve_estimate_planned(solver, graph, kind, record, ret_estimate, ret_plan);
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

static void open_solver(const struct worker_setup *setup, struct solver **ret_solver,
                        struct worker_facts *ret_facts)
{
    struct worker_facts facts = {0};
    char reason[SOLVER_REASON_SIZE];
    *ret_solver = NULL;
    if (!setup->gpu) {
        facts.status = solver_cpu_open(&setup->solver, ret_solver, &facts.problem);
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
        measure(*ret_solver, setup->gpu, &facts);
    }
    *ret_facts = facts;
}

/* ---- The loop ---- */

/* How tasks come to the loop and go back: between threads, or over a socket. It opens the files. */
struct worker_transport {
    void *context;
    /* Once. solver is NULL when it was not opened. */
    void (*opened)(void *context, const struct worker_facts *facts, struct solver *solver);
    /* The next task; NULL ends the loop. With STATUS_OK it has its result file, and a graph or the
     * descriptor of its file. */
    struct task *(*next)(void *context);
    /* The task has its status, and its graph still. */
    void (*done)(void *context, struct task *task, const struct solver *solver);
};

struct loop {
    const struct worker_setup *setup;
    struct solver *solver;
    struct solver *fallback; /* a CPU solver for kinds that the GPU lacks, opened when needed */
};

/* By the processor, also where the solver is a GPU: a hierarchy is small. */
static enum status solve_task_hierarchy(const struct loop *loop, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size = 0;
    struct plan_record record = {0};
    enum status status = task->graph == NULL ? task_read_graph(task) : STATUS_OK;
    if (status == STATUS_OK) {
        task_read_record(task, &record);
        status = solve_hierarchy(task->graph, task->kind, loop->setup->solver.cpu_threads, &record,
                                 &observer, &bytes, &size, &task->outcome, &task->problem);
    }
    task_keep_record(task, &record);
    if (status == STATUS_OK) {
        status = task_write_hierarchy(task, bytes, size);
    }
    free(bytes);
    return status;
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
    if (status != STATUS_OK) {
        return status;
    }
    const struct observer observer = task_signal_observer(task->signal);
    struct plan_record record = {0};
    const bool keeps_plan = task->plan_file.descriptor > 0;
    const struct solve_request request = {
        .kind = task->kind, .verify = task->verify, .record = keeps_plan ? &record : NULL};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    task_read_record(task, &record);
    status = solve_graph(loop->solver, loop->fallback, task->graph, &request, &observer, &matrix,
                         &task->outcome, &task->problem);
    task->outcome.account.statistics = NULL;
    if (status == STATUS_OK) {
        const double began_s = clock_monotonic_s();
        status = result_file_write_matrix(task->file);
        task->write_s += clock_monotonic_s() - began_s;
    }
    task_keep_record(task, &record);
    return status;
}

/* Opens the solver, reports the facts about it, and does one task after the other. Returns once the
 * transport has no more. */
static void run_loop(const struct worker_setup *setup, const struct worker_transport *transport)
{
    struct loop loop = {.setup = setup};
    struct worker_facts facts;
    struct task *task;
    if (!setup->gpu) {
        /* A CPU solver keeps every core busy: answers go first. On Linux a thread has a niceness of
         * its own, which those that the solver starts inherit. Down from where the service is. */
        const id_t thread = (id_t)gettid();
        const int niceness = getpriority(PRIO_PROCESS, thread) + CPU_SOLVER_NICENESS;
        (void)setpriority(PRIO_PROCESS, thread, niceness);
    }
    open_solver(setup, &loop.solver, &facts);
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
    solver_close(loop.fallback);
    solver_close(loop.solver);
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
                                         config->plan_folder, config->plan_budget_bytes};
    /* The message is the first member of its task. */
    struct task *task = (struct task *)mailbox_wait(worker->mailbox);
    if (task != NULL) {
        task_open_files(&folders, task);
        update_task(config->setup.solver.cpu_threads, task);
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
    judge_task(worker->config.sample_rows, task);
    task_send_home(worker->config.home, worker->config.finished, task);
}

static void *run_thread(void *context)
{
    struct worker *worker = context;
    const struct worker_transport transport = {worker, thread_opened, thread_next, thread_done};
    if (worker->config.isolation == WORKER_PROCESS) {
        supervisor_run(worker);
    } else {
        run_loop(&worker->config.setup, &transport);
    }
    return NULL;
}

static void destroy(struct worker *worker)
{
    if (worker->config.isolation == WORKER_PROCESS) {
        supervisor_finish(worker);
    }
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

/* ---- The process ---- */

/* The process of a worker, from the inside. */
struct child {
    int socket;
    struct worker_shared *shared;
    struct worker_setup setup;
    struct sandbox_policy policy;
    struct sandbox_report sandbox;
    struct task task;
};

static void send_message(const struct child *child, const struct wire_message *message)
{
    if (worker_protocol_send(child->socket, message, NULL) != STATUS_OK) {
        _exit(0); /* the daemon is gone */
    }
}

/* Counts as long as the process is scheduled, whatever the solver does, until the daemon hangs
 * up. */
static void *send_heartbeats(void *context)
{
    const struct child *child = context;
    struct pollfd look = {.fd = child->socket, .events = POLLRDHUP};
    while (poll(&look, 1, HEARTBEAT_MS) <= 0 ||
           (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0) {
        atomic_fetch_add(&child->shared->heartbeats, 1);
    }
    return NULL;
}

/* The solver has what it needs, its threads too: from here on nothing is opened by its path but by
 * CUDA, and what tells of the machine's memory. Before any task has come, so that who breaks in
 * through a graph finds the way out shut. */
static void child_opened(void *context, const struct worker_facts *facts, struct solver *solver)
{
    struct child *child = context;
    struct wire_message message = {.type = WIRE_OPENED, .body.opened.facts = *facts};
    struct worker_facts *told = &message.body.opened.facts;
    if (child->setup.sandboxed &&
        sandbox_filter_calls(&child->policy, &child->sandbox) != STATUS_OK) {
        told->status = problem_set(&told->problem, STATUS_NO_MEMORY,
                                   "There is not enough memory to confine the solver.");
    }
    told->sandbox = child->sandbox;
    if (solver != NULL) {
        solver_get_figures(solver, &message.body.opened.figures);
    }
    send_message(child, &message);
}

static struct task *child_next(void *context)
{
    struct child *child = context;
    struct task *task = &child->task;
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    const enum status status = worker_protocol_receive(child->socket, &message, descriptors);
    if (status == STATUS_IO) {
        return NULL;
    }
    if (status != STATUS_OK || message.type != WIRE_TASK) {
        _exit(WORKER_EXIT_PROTOCOL);
    }
    const struct wire_task *order = &message.body.task;
    *task = (struct task){
        .vertex_count = order->vertex_count,
        .kind = (enum kind)order->kind,
        .form = (enum result_form)order->form,
        .verify = order->verify != 0,
        .signal = &child->shared->signal,
        .graph_descriptor = descriptors[0],
        .plan_file = {.descriptor = descriptors[2]},
    };
    if (order->has_plan_file == 0) {
        plan_file_finish(&task->plan_file);
    }
    memcpy(task->graph_id, order->graph_id, sizeof(task->graph_id));
    task->status =
        result_file_adopt(descriptors[1], order->vertex_count, task->kind, task->form, &task->file);
    if (task->status != STATUS_OK) {
        close(descriptors[1]);
        problem_set(&task->problem, task->status, "The result file cannot be mapped.");
    }
    return task;
}

static void child_done(void *context, struct task *task, const struct solver *solver)
{
    struct child *child = context;
    const struct solve_outcome *outcome = &task->outcome;
    struct wire_message message;
    /* After an error that stays, nothing that this process computes can be trusted, and no other
     * call to the device mends it. */
    if (task->status == STATUS_DEVICE_LOST) {
        _exit(WORKER_EXIT_DEVICE + (int)solver_fault_class());
    }
    /* The file is let go of before the daemon is told: what it reads then does not change. */
    result_file_destroy(task->file);
    task->file = NULL;
    for (size_t sent = 0; sent < outcome->cycle_length; sent += message.body.cycle.count) {
        const size_t left = outcome->cycle_length - sent;
        struct wire_cycle *cycle = &message.body.cycle;
        message = (struct wire_message){.type = WIRE_CYCLE};
        cycle->count = left < WIRE_CYCLE_VERTICES ? (uint32_t)left : WIRE_CYCLE_VERTICES;
        memcpy(cycle->vertices, outcome->cycle + sent, cycle->count * sizeof(*cycle->vertices));
        send_message(child, &message);
    }
    message = (struct wire_message){.type = WIRE_DONE};
    worker_protocol_fill_done(task, &message.body.done);
    solver_get_figures(solver, &message.body.done.figures);
    task_finish(task);
    send_message(child, &message);
}

static void set_up_process(void)
{
    /* All but SIGKILL are meant for the daemon, whose group this is too: it says when to leave. */
    static const int ignored_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof(ignored_signals) / sizeof(ignored_signals[0]); i++) {
        signal(ignored_signals[i], SIG_IGN);
    }
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t ignored = write(file, OOM_SCORE, strlen(OOM_SCORE));
        (void)ignored;
        close(file);
    }
}

static bool receive_setup(struct child *child)
{
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    if (worker_protocol_receive(child->socket, &message, descriptors) != STATUS_OK ||
        message.type != WIRE_SETUP) {
        return false;
    }
    child->setup = message.body.setup;
    child->policy = (struct sandbox_policy){.role = SANDBOX_WORKER, .devices = child->setup.gpu};
    child->shared =
        mmap(NULL, sizeof(*child->shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
    close(descriptors[0]);
    return child->shared != MAP_FAILED;
}

int worker_child_run(int socket)
{
    struct child child = {.socket = socket};
    const struct worker_transport transport = {&child, child_opened, child_next, child_done};
    char reason[SOLVER_REASON_SIZE];
    pthread_t heartbeats;
    set_up_process();
    if (!receive_setup(&child)) {
        return WORKER_EXIT_PROTOCOL;
    }
    /* Before the first thread, as threads inherit it. The driver of a GPU is loaded before, as what
     * that takes nobody has listed; and compiles into memory alone. */
    if (child.setup.sandboxed) {
        if (child.setup.gpu && setenv("CUDA_CACHE_DISABLE", "1", 1) == 0) {
            (void)solver_gpu_count(reason);
        }
        sandbox_enter(&child.policy, &child.sandbox);
    }
    if (pthread_create(&heartbeats, NULL, send_heartbeats, &child) != 0) {
        return WORKER_EXIT_PROTOCOL;
    }
    run_loop(&child.setup, &transport);
    pthread_join(heartbeats, NULL);
    munmap(child.shared, sizeof(*child.shared));
    return 0;
}
