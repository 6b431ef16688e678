/* The thread of a worker that is a process of its own: starts it, gives it tasks, watches it, ends
 * it when it fails, and starts another. It blocks on the disk and on the process, for no longer
 * than struct worker_watch allows; and on one that was killed and stays, until that is gone or the
 * daemon leaves. */
#pragma once

#include "server/job/worker/process.h"

#include <pthread.h>

/* A worker, of its own thread but where something else is said. */
struct worker {
    struct worker_config config;
    struct worker_health health;
    pthread_t thread;
    struct mailbox *mailbox;
    /* The loop's in the thread, or a model of the one in the process. Any thread estimates. */
    struct solver *_Atomic solver;
    /* Where the worker is a process: */
    struct worker_process process;
    atomic_bool is_stopping; /* set by any thread, then supervisor_wake: no task is in hand */
    int backoff_ms;
};

/* On failure too supervisor_finish frees what there is. */
MUST_CHECK enum status supervisor_init(struct worker *worker);
void supervisor_finish(struct worker *worker);
/* Takes tasks from the mailbox until is_stopping, and refuses what comes until it is closed. */
void supervisor_run(struct worker *worker);
/* Posts to the scheduler that the worker, of either form, is ready, unless such a message is on its
 * way. */
void supervisor_post_opening(struct worker *worker);
/* There is mail, or the supervisor is to stop: the mailbox calls it, with the worker. Any thread.
 */
void supervisor_wake(void *worker);
