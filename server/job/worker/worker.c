#include "server/job/worker/worker.h"

#include "server/job/worker/loop.h"
#include "server/job/worker/supervisor.h"
#include "server/job/worker/task_files.h"

#include <pthread.h>
#include <stdlib.h>

/* The solvers keep their matrices on the heap; this is for deep library frames. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)

struct worker {
    struct worker_config config;
    struct worker_health health;
    pthread_t thread;
    /* In a thread: */
    struct mailbox *mailbox;
    const struct solver *solver; /* the loop's */
    /* In a process: */
    struct supervisor *keeper;
};

/* ---- Health ---- */

void worker_health_tell(const struct worker_config *config, struct worker_health *health)
{
    atomic_store(&health->state, WORKER_READY);
    if (!atomic_exchange(&health->telling, true)) {
        mailbox_post(config->home, &config->opening->message);
    }
}

void worker_health_told(struct worker_health *health)
{
    atomic_store(&health->telling, false);
}

/* ---- In a thread ---- */

static void opened(void *context, const struct worker_facts *facts, const struct solver *solver)
{
    struct worker *worker = context;
    worker->solver = solver;
    worker->config.opening->facts = *facts;
    worker_health_tell(&worker->config, &worker->health);
}

static struct task *next(void *context)
{
    const struct worker *worker = context;
    const struct task_folders folders = {worker->config.graph_folder, worker->config.result_folder,
                                         false};
    /* The message is the first member of its task. */
    struct task *task = (struct task *)mailbox_wait(worker->mailbox);
    if (task != NULL) {
        task_files_open(&folders, task);
    }
    return task;
}

static void done(void *context, struct task *task, const struct solver *solver)
{
    struct worker *worker = context;
    (void)solver;
    if (task->status == STATUS_DEVICE_LOST) {
        atomic_store(&worker->health.state, WORKER_LOST);
    }
    task_files_judge(worker->config.sample_rows, task);
    task_files_send_home(worker->config.home, worker->config.finished, task);
}

static void *run(void *context)
{
    struct worker *worker = context;
    if (worker->keeper != NULL) {
        supervisor_run(worker->keeper);
    } else {
        const struct worker_setup setup = {*worker->config.solver, worker->config.gpu,
                                           worker->config.gpu_index, false};
        const struct worker_line line = {worker, opened, next, done};
        worker_loop_run(&setup, &line);
    }
    return NULL;
}

/* ---- Of either sort ---- */

static int create_thread(struct worker *worker)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    int error = pthread_create(&worker->thread, &attributes, run, worker);
    pthread_attr_destroy(&attributes);
    return error;
}

static void destroy(struct worker *worker)
{
    supervisor_destroy(worker->keeper);
    mailbox_destroy(worker->mailbox);
    free(worker);
}

enum status worker_start(const struct worker_config *config, struct worker **ret_worker)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->config = *config;
    enum status status = config->isolation == WORKER_PROCESS
                             ? supervisor_create(&worker->config, &worker->health, &worker->keeper)
                             : mailbox_create(NULL, NULL, &worker->mailbox);
    if (status == STATUS_OK && create_thread(worker) != 0) {
        status = STATUS_NO_MEMORY;
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
    mailbox_post(worker->keeper != NULL ? supervisor_mailbox(worker->keeper) : worker->mailbox,
                 &task->message);
}

struct task_signal *worker_signal(const struct worker *worker)
{
    return worker->keeper != NULL ? &supervisor_board(worker->keeper)->signal : NULL;
}

struct worker_health *worker_health_of(struct worker *worker)
{
    return &worker->health;
}

static const struct solver *solver_of(const struct worker *worker)
{
    return worker->keeper != NULL ? supervisor_model(worker->keeper) : worker->solver;
}

void worker_estimate(const struct worker *worker, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, struct solver_estimate *ret_estimate)
{
    worker_setup_estimate(solver_of(worker), vertex_count, edge_count, kind, ret_estimate);
}

enum status worker_estimate_graph(const struct worker *worker, const struct graph *graph,
                                  enum kind kind, struct solver_estimate *ret_estimate,
                                  struct plan_summary *ret_plan)
{
    return worker_setup_estimate_graph(solver_of(worker), graph, kind, ret_estimate, ret_plan);
}

void worker_hurry(struct worker *worker)
{
    if (worker->keeper != NULL) {
        supervisor_hurry(worker->keeper);
    }
}

void worker_dismiss(struct worker *worker)
{
    if (worker->keeper != NULL) {
        supervisor_stop(worker->keeper);
    } else {
        mailbox_close(worker->mailbox);
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
