#include "server/worker/supervisor.h"

#include "server/clock.h"
#include "server/log.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* A solver opens within this, and the driver compiles its kernels. */
#define OPEN_ALLOWANCE_S 300
/* The time allowed outside the rounds of a task, as a multiple of its expected time in all. */
#define EXPECTED_FACTOR 20.0
/* Reading graphs, writing results, and the sums of certificates and of negative cycles. */
#define BYTES_PER_S 20e6
#define STEPS_PER_S 20e6

/* A tick of the watch: an eighth of the least time in which anything is judged. */
#define TICK_MS_MAX 1000
#define TICKS_PER_STALL 8
/* Between two attempts to start a process that fails: doubled each time, and forgotten once a job
 * came home. */
#define BACKOFF_MS_MIN 100
#define BACKOFF_MS_MAX 30000

/* ---- The messages of a process, watched meanwhile ---- */

static void watch_from_now(struct worker_process *process, const struct task *task, double stall_s,
                           double allowance_s)
{
    process->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&process->watch, task, stall_s, allowance_s);
}

/* Until the socket is ready for events, or has hung up; or, with wakeup, until that is readable.
 * Ticks are counted, not time: one that lasted long because this thread did not run is a short
 * one. */
static enum task_loss await(struct worker_process *process, short events, bool wakeup)
{
    struct pollfd files[] = {{.fd = process->socket, .events = events},
                             {.fd = process->wakeup, .events = POLLIN}};
    const uint32_t tick = process->stall_s * 1000 / TICKS_PER_STALL;
    const int tick_ms = tick < TICK_MS_MAX ? (int)tick : TICK_MS_MAX;
    enum task_loss loss = TASK_LOSS_NONE;
    int ready = 0;
    while (ready <= 0 && loss == TASK_LOSS_NONE) {
        ready = poll(files, wakeup ? 2 : 1, tick_ms);
        const double now_s = clock_monotonic_s();
        const double tick_s = fmin(now_s - process->looked_at_s, 2e-3 * tick_ms);
        process->looked_at_s = now_s;
        process->watch.is_hurried = atomic_load(&process->is_hurried);
        loss = worker_watch_tick(&process->watch, process->shared, tick_s);
    }
    return loss;
}

static enum task_loss send_message(struct worker_process *process,
                                   const struct wire_message *message, const int *descriptors)
{
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_send(process->socket, message, descriptors)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(process, POLLOUT, false);
    }
    return status == STATUS_IO ? TASK_LOSS_EXIT : loss;
}

/* No message of a worker's has descriptors. */
static enum task_loss receive_message(struct worker_process *process,
                                      struct wire_message *ret_message)
{
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_receive(process->socket, ret_message, NULL)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(process, POLLIN, false);
    }
    return status == STATUS_IO        ? TASK_LOSS_EXIT
           : status == STATUS_CORRUPT ? TASK_LOSS_PROTOCOL
                                      : loss;
}

enum task_loss worker_process_open(struct worker_process *process, const struct worker_setup *setup,
                                   struct wire_opened *ret_opened)
{
    struct wire_message message = {.type = WIRE_SETUP, .body.setup = *setup};
    *ret_opened = (struct wire_opened){0};
    watch_from_now(process, NULL, OPEN_ALLOWANCE_S, OPEN_ALLOWANCE_S);
    enum task_loss loss = send_message(process, &message, &process->shared_descriptor);
    if (loss == TASK_LOSS_NONE) {
        loss = receive_message(process, &message);
    }
    worker_watch_begin(&process->watch, NULL, process->stall_s, 0);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    if (message.type != WIRE_OPENED ||
        worker_protocol_take_opened(&message.body.opened, setup, &ret_opened->facts) != STATUS_OK) {
        return TASK_LOSS_PROTOCOL;
    }
    ret_opened->figures = message.body.opened.figures;
    return TASK_LOSS_NONE;
}

/* Seconds of a hierarchy for each vertex and edge, on a slow processor. */
#define HIERARCHY_STEP_S 2e-5

/* Time outside the rounds: reading, writing, and all that is computed beside them. */
static double allow_s(const struct solver *model, const struct task *task)
{
    /* 16 bits take the pace of i4, whichever way they are computed. */
    const enum kind kind = task->kind == KIND_U2 ? KIND_I4 : task->kind;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    const double n = task->vertex_count;
    const double m = (double)task->edge_count;
    const double rows = fmin(n, SOLVE_VERIFY_ROWS);
    if (task->form == RESULT_FORM_HIERARCHY) {
        estimate.seconds = (n + m) * HIERARCHY_STEP_S;
    } else if (solver_supports(model, kind)) {
        solver_estimate(model, task->vertex_count, task->edge_count, kind, &plain, &estimate);
    }
    return EXPECTED_FACTOR * fmax(estimate.seconds, 0) +
           (16 * m + (double)result_file_bytes(task->file)) / BYTES_PER_S +
           (task->verify ? rows * (n + m) : 0) / STEPS_PER_S +
           (task->negative ? n * m : 0) / STEPS_PER_S;
}

enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                    struct solver *model)
{
    const bool has_order_file = task->order_file.descriptor > 0;
    const int descriptors[] = {task->graph_descriptor, result_file_descriptor(task->file),
                               has_order_file ? task->order_file.descriptor
                                              : task->graph_descriptor};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){.vertex_count = task->vertex_count,
                                           .kind = (uint32_t)task->kind,
                                           .form = (uint32_t)task->form,
                                           .verify = task->verify,
                                           .has_order_file = has_order_file};
    memcpy(message.body.task.graph_id, task->graph_id, sizeof(task->graph_id));
    watch_from_now(process, task, process->stall_s, allow_s(model, task));
    enum task_loss loss = send_message(process, &message, descriptors);
    while (loss == TASK_LOSS_NONE) {
        loss = receive_message(process, &message);
        if (loss != TASK_LOSS_NONE) {
            break;
        }
        enum status status = STATUS_CORRUPT;
        if (message.type == WIRE_CYCLE) {
            status = worker_protocol_take_cycle(&message.body.cycle, task);
        } else if (message.type == WIRE_DONE) {
            status = worker_protocol_take_done(&message.body.done, task);
        }
        /* A process that has lost its device says so by its exit code. */
        if (status != STATUS_OK ||
            (message.type == WIRE_DONE && task->status == STATUS_DEVICE_LOST)) {
            loss = TASK_LOSS_PROTOCOL;
        } else if (message.type == WIRE_DONE) {
            solver_set_figures(model, &message.body.done.figures);
            break;
        }
    }
    worker_watch_begin(&process->watch, NULL, process->stall_s, 0);
    return loss;
}

/* Until wakeup is readable, or the process is lost. */
static enum task_loss wait_idle(struct worker_process *process)
{
    struct pollfd socket = {.fd = process->socket, .events = POLLIN};
    const enum task_loss loss = await(process, POLLIN, true);
    if (loss != TASK_LOSS_NONE || poll(&socket, 1, 0) <= 0) {
        return loss;
    }
    /* Nobody asked it anything: whatever it says is wrong. */
    return (socket.revents & POLLHUP) != 0 ? TASK_LOSS_EXIT : TASK_LOSS_PROTOCOL;
}

/* ---- The thread ---- */

void supervisor_wake(void *context)
{
    const struct worker *worker = context;
    const uint64_t one = 1;
    /* Fails when it is readable already. */
    const ssize_t ignored = write(worker->process.wakeup, &one, sizeof(one));
    (void)ignored;
}

void supervisor_post_opening(struct worker *worker)
{
    atomic_store(&worker->health.state, WORKER_READY);
    if (!atomic_exchange(&worker->health.is_opening_posted, true)) {
        mailbox_post(worker->config.home, &worker->config.opening->message);
    }
}

static void clear_wakeup(const struct worker *worker)
{
    uint64_t count;
    const ssize_t ignored = read(worker->process.wakeup, &count, sizeof(count));
    (void)ignored;
}

/* ---- Tasks ---- */

/* The process has gone, or it fails: what it had is ended with it. */
static void lose_process(struct worker *worker, enum task_loss loss, struct task *task)
{
    struct worker_process *process = &worker->process;
    char reason[TASK_LOSS_TEXT_SIZE];
    int code;
    worker_process_end(process, &loss, &code);
    atomic_store(&worker->health.state, process->is_stuck ? WORKER_LOST : WORKER_RESTARTING);
    task_loss_describe(loss, code, reason);
    log_write(LOG_ERROR, "worker_lost", LOG_NUMBER("pid", process->pid), LOG_TEXT("reason", reason),
              LOG_NUMBER("jobs", task != NULL),
              LOG_NUMBER("restart_in_s", worker->backoff_ms / 1e3));
    if (task != NULL) {
        task->status = STATUS_DEVICE_LOST;
        task->loss = loss;
        task->loss_code = code;
    }
}

/* Reads the graph again, for the proof of a result and for the names of a cycle. A process that
 * calls the graph's file damaged is not believed: a file that can be read here stays, and where
 * there is no memory to read it the job is tried again. */
static void read_graph(struct task *task)
{
    const enum status status = task_read_graph(task);
    if (status == STATUS_OK && task->status == STATUS_CORRUPT) {
        task->status = problem_set(&task->problem, STATUS_NOT_VERIFIED,
                                   "The solver could not read the stored graph %s, which is sound.",
                                   task->graph_id);
    } else if (status != STATUS_OK) {
        task->status = status;
    }
}

static void do_task(struct worker *worker, struct task *task)
{
    const struct worker_config *config = &worker->config;
    const struct task_folders folders = {config->graph_folder, config->result_folder, true,
                                         config->order_folder, config->plan_budget_bytes};
    task_open_files(&folders, task);
    worker_update(config->setup.solver.cpu_threads, task);
    task_open_order_file(&folders, task);
    if (task->status == STATUS_OK && !task->is_updated) {
        const enum task_loss loss = worker_process_solve(&worker->process, task, worker->solver);
        if (loss != TASK_LOSS_NONE) {
            lose_process(worker, loss, task);
        } else {
            const bool needs_graph =
                task->status == STATUS_OK || task->status == STATUS_NEGATIVE_CYCLE;
            worker->backoff_ms = BACKOFF_MS_MIN;
            if (task->status == STATUS_CORRUPT || (needs_graph && task->graph == NULL)) {
                read_graph(task);
            }
        }
    }
    judge_task(config->sample_rows, config->setup.solver.cpu_threads, &worker->pool, task);
    task_send_home(config->home, config->finished, task);
}

/* Does tasks until the process is lost or the supervisor is to stop. */
static void serve(struct worker *worker)
{
    while (worker->process.is_running && !atomic_load(&worker->is_stopping)) {
        struct message *message = mailbox_take(worker->mailbox);
        if (message != NULL) {
            /* The message is the first member of its task. */
            do_task(worker, (struct task *)message);
            continue;
        }
        const enum task_loss loss = wait_idle(&worker->process);
        if (loss != TASK_LOSS_NONE) {
            lose_process(worker, loss, NULL);
        }
        clear_wakeup(worker);
    }
}

/* Tasks that were posted before the loss was noticed go back untouched, to be queued again. */
static void refuse_tasks(const struct worker *worker,
                         struct message *(*take)(struct mailbox *mailbox))
{
    struct message *message;
    while ((message = take(worker->mailbox)) != NULL) {
        struct task *task = (struct task *)message;
        task->status = STATUS_DEVICE_LOST;
        task_send_home(worker->config.home, worker->config.finished, task);
    }
}

/* ---- Starts, again and again ---- */

/* A process whose solver is open. Else facts tell why there is none. */
static void start_process(struct worker *worker, struct worker_facts *ret_facts)
{
    struct worker_process *process = &worker->process;
    const bool sandboxed = worker->config.setup.sandboxed;
    struct wire_opened opened = {0};
    struct worker_facts facts = {.status = worker_process_start(process)};
    if (facts.status != STATUS_OK) {
        problem_set(&facts.problem, facts.status, "No process can be started.");
    } else {
        enum task_loss loss = worker_process_open(process, &worker->config.setup, &opened);
        const bool is_lost = loss != TASK_LOSS_NONE;
        facts = opened.facts;
        if (!is_lost && facts.status == STATUS_OK && worker->solver == NULL) {
            struct solver *model = NULL;
            facts.status = solver_model_create(&opened.figures, &model);
            worker->solver = model;
        }
        if (is_lost || facts.status != STATUS_OK) {
            char reason[TASK_LOSS_TEXT_SIZE];
            int code;
            worker_process_end(process, &loss, &code);
            task_loss_describe(loss, code, reason);
            if (is_lost) {
                facts.status = problem_set(
                    &facts.problem, STATUS_DEVICE_LOST,
                    "The solver's process ended while it opened the device: %s.", reason);
            }
        }
    }
    if (facts.status != STATUS_OK) {
        log_write(facts.status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR, "worker_not_started",
                  LOG_TEXT("code", status_info(facts.status)->code),
                  LOG_TEXT("detail", facts.problem.detail),
                  LOG_NUMBER("restart_in_s", worker->backoff_ms / 1e3));
    } else {
        if (sandboxed) {
            log_write(facts.sandbox.without[0] == '\0' ? LOG_INFO : LOG_WARNING, "worker_confined",
                      LOG_NUMBER("pid", process->pid),
                      LOG_NUMBER("landlock", facts.sandbox.landlock_abi),
                      LOG_TEXT("seccomp", facts.sandbox.filtered ? "on" : "off"),
                      LOG_TEXT("without", facts.sandbox.without));
        }
        log_write(LOG_INFO, "worker_started", LOG_NUMBER("pid", process->pid),
                  LOG_TEXT("device", facts.device.name));
    }
    *ret_facts = facts;
}

/* Waits before the next start, longer each time; and until a process that is stuck is gone, which
 * may be never, as no second one may meet it on its device. Tasks are refused meanwhile: nobody
 * waits for a process that cannot be started. */
static void back_off(struct worker *worker)
{
    struct worker_process *process = &worker->process;
    const double until_s = clock_monotonic_s() + worker->backoff_ms / 1e3;
    double left_s = worker->backoff_ms / 1e3;
    if (process->is_stuck) {
        atomic_store(&worker->health.state, WORKER_LOST);
        log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", process->pid));
    }
    while ((process->is_stuck || left_s > 0) && !atomic_load(&worker->is_stopping)) {
        refuse_tasks(worker, mailbox_take);
        if (worker_process_wait(process, (int)ceil(left_s * 1e3))) {
            log_write(LOG_INFO, "worker_gone", LOG_NUMBER("pid", process->pid));
            atomic_store(&worker->health.state, WORKER_RESTARTING);
        }
        clear_wakeup(worker);
        left_s = until_s - clock_monotonic_s();
    }
    worker->backoff_ms =
        worker->backoff_ms * 2 < BACKOFF_MS_MAX ? worker->backoff_ms * 2 : BACKOFF_MS_MAX;
}

void supervisor_run(struct worker *worker)
{
    struct worker_process *process = &worker->process;
    struct worker_facts *first_facts = &worker->config.opening->facts;
    struct worker_facts facts;
    start_process(worker, first_facts);
    supervisor_post_opening(worker);
    /* A worker that never had a solver is dropped by the scheduler. */
    while (first_facts->status == STATUS_OK && !atomic_load(&worker->is_stopping)) {
        if (process->is_running) {
            serve(worker);
            continue;
        }
        back_off(worker);
        if (!atomic_load(&worker->is_stopping)) {
            start_process(worker, &facts);
        }
        if (process->is_running) {
            atomic_fetch_add(&worker->health.restarts, 1);
            supervisor_post_opening(worker);
        }
    }
    if (process->is_running) {
        enum task_loss loss = TASK_LOSS_NONE;
        int code;
        worker_process_end(process, &loss, &code);
        if (process->is_stuck) {
            log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", process->pid));
        }
    }
    if (process->is_stuck) {
        close(process->pidfd); /* it is left behind: nobody waits for its end any more */
    }
    refuse_tasks(worker, mailbox_wait);
}

/* ---- Itself ---- */

enum status supervisor_init(struct worker *worker)
{
    const size_t size = sizeof(struct worker_shared);
    struct worker_process *process = &worker->process;
    worker->backoff_ms = BACKOFF_MS_MIN;
    process->stall_s = worker->config.stall_s;
    process->launcher = worker->config.launcher;
    process->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    process->shared_descriptor = memfd_create("apspd-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* Sealed, so that no process that has it can take memory from under the other. */
    if (process->wakeup < 0 || process->shared_descriptor < 0 ||
        ftruncate(process->shared_descriptor, (off_t)size) != 0 ||
        fcntl(process->shared_descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
            0) {
        return STATUS_NO_MEMORY;
    }
    void *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, process->shared_descriptor, 0);
    process->shared = shared != MAP_FAILED ? shared : NULL;
    return shared != MAP_FAILED ? STATUS_OK : STATUS_NO_MEMORY;
}

void supervisor_finish(struct worker *worker)
{
    struct worker_process *process = &worker->process;
    solver_close(worker->solver);
    if (process->shared != NULL) {
        munmap(process->shared, sizeof(*process->shared));
    }
    if (process->shared_descriptor >= 0) {
        close(process->shared_descriptor);
    }
    if (process->wakeup >= 0) {
        close(process->wakeup);
    }
}
