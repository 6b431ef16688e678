#include "server/worker/supervisor.h"

#include <stdlib.h>

/* The solvers keep their matrices on the heap; this is for deep library frames. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)

static void *run_worker(void *context)
{
    supervisor_run(context);
    return NULL;
}

static void destroy_worker(struct worker *worker)
{
    supervisor_finish(worker);
    cpu_pool_destroy(worker->pool);
    mailbox_destroy(worker->mailbox);
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
    enum status status = supervisor_init(worker);
    if (status == STATUS_OK) {
        status = mailbox_create(supervisor_wake, worker, &worker->mailbox);
    }
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
    supervisor_wake(worker);
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
