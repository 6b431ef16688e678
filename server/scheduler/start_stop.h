/* Opens the scheduler with its devices, drains it, destroys it. Loop thread. */
#pragma once

#include "server/scheduler/scheduler.h"

/* Restores graphs, results and jobs from the store, starts the store's disk threads, opens a worker
 * per device (waits for them) and queues the jobs that were queued or running. Borrows config,
 * store, table and launcher (may be NULL) until it is destroyed. */
MUST_CHECK enum status scheduler_create(uv_loop_t *loop, const struct config *config,
                                        struct store *store, struct result_table *table,
                                        const struct worker_launcher *launcher,
                                        struct scheduler **ret_scheduler, struct problem *reterr);
/* Refuses new jobs and answers waiting long-polls. After config->drain_s, running jobs are
 * cancelled and queued again. drained() is called on the loop once no job runs and everything is on
 * the disk. After scheduler_drain every call is answered without waiting. */
void scheduler_drain(struct scheduler *scheduler, void (*drained)(void *context), void *context);
/* While draining: cancels the running jobs now and queues them again. */
void scheduler_drain_faster(struct scheduler *scheduler);
/* Called after drained(): stops the workers and answers every remaining call. The caller runs the
 * loop until its handles are closed, which frees the scheduler. Accepts NULL. */
void scheduler_destroy(struct scheduler *scheduler);
