#include "server/worker/worker.h"

#include "server/clock.h"
#include "server/log.h"
#include "server/worker/process.h"
#include "server/worker/proof.h"
#include "server/worker/update.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pause before a failed process is started again. It doubles each time; a solved task resets it. */
#define BACKOFF_MS_MIN 100
#define BACKOFF_MS_MAX 30000
/* Stack size of a worker's thread, for libraries that use deep stacks; matrices are on the heap. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)

/* State of a worker. Other threads access only its atomic members. */
struct worker {
    struct worker_config config;
    bool has_process; /* the solver runs in a process, not in the thread */
    struct worker_health health;
    struct worker_facts facts; /* facts from the first opening */
    sem_t opened;              /* posted when the facts are set */
    pthread_t thread;
    struct task *_Atomic given; /* next task, until the thread receives it */
    struct cpu_pool *pool;      /* threads for proof_check */
    /* The thread's solver, or a model of the process's solver; read by any thread for estimates. */
    struct solver *_Atomic solver;
    struct task_solver own; /* solver that runs in the thread */
    struct worker_process process;
    struct task_signal own_signal; /* signal of the task if there is no process */
    atomic_bool is_stopping;       /* set only while the worker has no task */
    int backoff_ms;
};

/* Starts a process and opens its solver; ends the process on failure. */
static void open_process(struct worker *worker, struct worker_facts *ret_facts)
{
    struct worker_process *process = &worker->process;
    struct wire_opened opened = {0};
    char reason[TASK_LOSS_TEXT_SIZE];
    int code;
    if (worker_process_start(process) != STATUS_OK) {
        ret_facts->status = problem_set(&ret_facts->problem, STATUS_NO_MEMORY,
                                        "The worker process cannot be started.");
        return;
    }
    enum task_loss loss = worker_process_open(process, &worker->config.setup, &opened);
    const bool is_lost = loss != TASK_LOSS_NONE;
    *ret_facts = opened.facts;
    if (!is_lost && ret_facts->status == STATUS_OK && worker->solver == NULL) {
        struct solver *model = NULL;
        ret_facts->status = solver_model_create(&opened.figures, &model);
        worker->solver = model;
    }
    if (!is_lost && ret_facts->status == STATUS_OK) {
        return;
    }
    worker_process_end(process, &loss, &code);
    if (is_lost) {
        task_loss_describe(loss, code, reason);
        ret_facts->status =
            problem_set(&ret_facts->problem, STATUS_DEVICE_LOST,
                        "The solver process ended while opening the device: %s.", reason);
    }
}

static void start_process(struct worker *worker, struct worker_facts *ret_facts)
{
    const struct sandbox_report *sandbox = &ret_facts->sandbox;
    *ret_facts = (struct worker_facts){0};
    open_process(worker, ret_facts);
    if (ret_facts->status != STATUS_OK) {
        log_write(ret_facts->status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR,
                  "worker_not_started", LOG_TEXT("code", status_info(ret_facts->status)->code),
                  LOG_TEXT("detail", ret_facts->problem.detail),
                  LOG_NUMBER("restart_in_s", worker->backoff_ms / 1e3));
        return;
    }
    if (worker->config.setup.sandboxed) {
        log_write(sandbox->without[0] == '\0' ? LOG_INFO : LOG_WARNING, "worker_confined",
                  LOG_NUMBER("pid", worker->process.pid),
                  LOG_NUMBER("landlock", sandbox->landlock_abi),
                  LOG_TEXT("seccomp", sandbox->filtered ? "on" : "off"),
                  LOG_TEXT("without", sandbox->without));
    }
    log_write(LOG_INFO, "worker_started", LOG_NUMBER("pid", worker->process.pid),
              LOG_TEXT("device", ret_facts->device.name));
}

static void start_solver(struct worker *worker, struct worker_facts *ret_facts)
{
    if (worker->has_process) {
        start_process(worker, ret_facts);
        return;
    }
    task_solver_open(&worker->config.setup, NULL, &worker->own, ret_facts);
    worker->solver = worker->own.solver;
    worker->process.pid = getpid();
    worker->process.is_running = ret_facts->status == STATUS_OK;
}

/* Solves a task whose files are open. Sets the task's status, unless the solver is lost. */
static enum task_loss run_solver(struct worker *worker, struct task *task)
{
    if (worker->has_process) {
        return worker_process_solve(&worker->process, task, worker->solver);
    }
    task_solver_run(&worker->own, task);
    /* The device's error is sticky: no further result of the device can be trusted. */
    return task->status == STATUS_DEVICE_LOST ? TASK_LOSS_DEVICE : TASK_LOSS_NONE;
}

/* Ends the process because of *loss. A solver that runs in the thread cannot be ended, so it counts
 * as stuck. */
static void end_solver(struct worker *worker, enum task_loss *loss, int *ret_code)
{
    if (worker->has_process) {
        worker_process_end(&worker->process, loss, ret_code);
        return;
    }
    *ret_code = 0;
    worker->process.is_running = false;
    worker->process.is_stuck = *loss != TASK_LOSS_NONE;
}

static enum task_loss wait_for_task(struct worker *worker)
{
    if (worker->has_process) {
        return worker_process_wait_idle(&worker->process);
    }
    (void)worker_process_wait(&worker->process, -1);
    return TASK_LOSS_NONE;
}

/* Wakes the worker for a task or a stop. Any thread. */
static void wake_worker(const struct worker *worker)
{
    (void)eventfd_write(worker->process.wakeup, 1);
}

static void clear_wakeup(const struct worker *worker)
{
    eventfd_t count;
    (void)eventfd_read(worker->process.wakeup, &count);
}

/* Handles a loss: ends the process and marks the current task as lost. */
static void lose_solver(struct worker *worker, enum task_loss loss, struct task *task)
{
    struct worker_process *process = &worker->process;
    char reason[TASK_LOSS_TEXT_SIZE];
    int code;
    end_solver(worker, &loss, &code);
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

static void solve_task(struct worker *worker, struct task *task)
{
    const enum task_loss loss = run_solver(worker, task);
    if (loss != TASK_LOSS_NONE) {
        lose_solver(worker, loss, task);
        return;
    }
    worker->backoff_ms = BACKOFF_MS_MIN;
    /* Reads the graph here: a process may falsely report that the graph's file is damaged. */
    if (task->status == STATUS_CORRUPT) {
        graph_destroy(task->graph);
        task->graph = NULL;
        task->status = task_read_graph(task);
        if (task->status == STATUS_OK) {
            task->status = problem_set(
                &task->problem, STATUS_NOT_VERIFIED,
                "The stored graph %s is intact, but the solver could not read it.", task->graph_id);
        }
    }
}

static void carry_out(struct worker *worker, struct task *task)
{
    const struct worker_config *config = &worker->config;
    const uint32_t threads = config->setup.solver.cpu_threads;
    task_open_files(&config->folders, task);
    update_task(threads, task);
    task_open_order_file(&config->folders, task);
    if (task->status == STATUS_OK && !task->is_updated) {
        solve_task(worker, task);
    }
    proof_check(threads, &worker->pool, task);
    task_send_home(config->home, config->finished, task);
}

static void serve_tasks(struct worker *worker)
{
    while (worker->process.is_running && !atomic_load(&worker->is_stopping)) {
        struct task *task = atomic_exchange(&worker->given, NULL);
        if (task != NULL) {
            carry_out(worker, task);
            continue;
        }
        const enum task_loss loss = wait_for_task(worker);
        if (loss != TASK_LOSS_NONE) {
            lose_solver(worker, loss, NULL);
        }
        clear_wakeup(worker);
    }
}

/* Sends back a task that was given before the worker noticed the loss, to be queued again. */
static void refuse_task(struct worker *worker)
{
    struct task *task = atomic_exchange(&worker->given, NULL);
    if (task != NULL) {
        task->status = STATUS_DEVICE_LOST;
        task_send_home(worker->config.home, worker->config.finished, task);
    }
}

/* Waits before the next start of a process, longer each time. Also waits, perhaps forever, until a
 * stuck process has exited, because two processes must not share the device. Meanwhile tasks are
 * sent back, so that no task waits for a process that cannot start. */
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
        refuse_task(worker);
        if (worker_process_wait(process, (int)ceil(left_s * 1e3))) {
            log_write(LOG_INFO, "worker_exited", LOG_NUMBER("pid", process->pid));
            atomic_store(&worker->health.state, WORKER_RESTARTING);
        }
        clear_wakeup(worker);
        left_s = until_s - clock_monotonic_s();
    }
    worker->backoff_ms =
        worker->backoff_ms * 2 < BACKOFF_MS_MAX ? worker->backoff_ms * 2 : BACKOFF_MS_MAX;
}

static void *run_worker(void *context)
{
    struct worker *worker = context;
    struct worker_process *process = &worker->process;
    struct worker_facts facts;
    start_solver(worker, &worker->facts);
    sem_post(&worker->opened);
    /* The loop is skipped if the first opening failed: the scheduler drops such a worker. */
    while (worker->facts.status == STATUS_OK && !atomic_load(&worker->is_stopping) &&
           (process->is_running || worker->has_process)) {
        if (process->is_running) {
            serve_tasks(worker);
            continue;
        }
        back_off(worker);
        if (!atomic_load(&worker->is_stopping)) {
            start_solver(worker, &facts);
        }
        if (process->is_running) {
            atomic_fetch_add(&worker->health.restarts, 1);
            atomic_store(&worker->health.state, WORKER_READY);
            mailbox_wake(worker->config.home); /* the worker accepts tasks again */
        }
    }
    if (process->is_running) {
        enum task_loss loss = TASK_LOSS_NONE;
        int code;
        end_solver(worker, &loss, &code);
        if (process->is_stuck) {
            log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", process->pid));
        }
    }
    if (process->is_stuck && process->pidfd >= 0) {
        close(process->pidfd); /* the stuck process is abandoned */
    }
    refuse_task(worker);
    if (!worker->has_process) {
        task_solver_close(&worker->own);
    }
    return NULL;
}

static enum status init_worker(struct worker *worker)
{
    const size_t size = sizeof(struct worker_shared);
    struct worker_process *process = &worker->process;
    sem_init(&worker->opened, 0, 0);
    worker->backoff_ms = BACKOFF_MS_MIN;
    process->stall_s = worker->config.stall_s;
    process->launcher = worker->config.launcher;
    process->pidfd = process->shared_descriptor = -1;
    process->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (process->wakeup < 0) {
        return STATUS_NO_MEMORY;
    }
    worker->has_process = worker->config.isolation == WORKER_PROCESS;
    if (!worker->has_process) {
        return STATUS_OK;
    }
    process->shared_descriptor = memfd_create("apspd-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* The memory is sealed, so that neither process can shrink it while the other has it mapped. */
    if (process->shared_descriptor < 0 || ftruncate(process->shared_descriptor, (off_t)size) != 0 ||
        fcntl(process->shared_descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
            0) {
        return STATUS_NO_MEMORY;
    }
    void *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, process->shared_descriptor, 0);
    process->shared = shared != MAP_FAILED ? shared : NULL;
    return shared != MAP_FAILED ? STATUS_OK : STATUS_NO_MEMORY;
}

static void destroy_worker(struct worker *worker)
{
    struct worker_process *process = &worker->process;
    if (worker->has_process) {
        free(worker->solver);
    }
    if (process->shared != NULL) {
        munmap(process->shared, sizeof(*process->shared));
    }
    close(process->shared_descriptor);
    close(process->wakeup);
    cpu_pool_destroy(worker->pool);
    sem_destroy(&worker->opened);
    free(worker);
}

enum status worker_start(const struct worker_config *config, struct worker **ret_worker)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    pthread_attr_t attributes;
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->config = *config;
    enum status status = init_worker(worker);
    if (status == STATUS_OK) {
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
        if (pthread_create(&worker->thread, &attributes, run_worker, worker) != 0) {
            status = STATUS_NO_MEMORY;
        }
        pthread_attr_destroy(&attributes);
    }
    if (status != STATUS_OK) {
        destroy_worker(worker);
        return status;
    }
    *ret_worker = worker;
    return STATUS_OK;
}

const struct worker_facts *worker_wait_opened(struct worker *worker)
{
    while (sem_wait(&worker->opened) != 0) {
    }
    return &worker->facts;
}

void worker_give(struct worker *worker, struct task *task)
{
    CHECK(atomic_exchange(&worker->given, task) == NULL);
    wake_worker(worker);
}

struct task_signal *worker_signal(struct worker *worker)
{
    return worker->has_process ? &worker->process.shared->signal : &worker->own_signal;
}

const struct worker_health *worker_health_of(const struct worker *worker)
{
    return &worker->health;
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
    wake_worker(worker);
}

void worker_stop(struct worker *worker)
{
    if (worker == NULL) {
        return;
    }
    worker_dismiss(worker);
    CHECK(pthread_join(worker->thread, NULL) == 0);
    destroy_worker(worker);
}
