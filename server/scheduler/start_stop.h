/* The life of the scheduler: opened with its devices, drained, destroyed. Loop thread. */
#pragma once

#include "server/scheduler/scheduler.h"

/* Restores graphs, results and jobs from the store, starts the store's disk threads, opens a worker
 * per device (waits for them) and queues again what was queued or running. Borrows config, store,
 * table and launcher, which may be NULL, for its life. Loop thread. */
MUST_CHECK enum status scheduler_create(uv_loop_t *loop, const struct config *config,
                                        struct store *store, struct result_table *table,
                                        const struct worker_launcher *launcher,
                                        struct scheduler **ret_scheduler, struct problem *reterr);
/* No new jobs from now on; waiting long-polls are answered. drained() is called on the loop when
 * the running jobs have ended and all is on the disk; running jobs are cancelled and put back
 * after drain_s. Every call from then on is answered as soon as the loop sees it. */
void scheduler_drain(struct scheduler *scheduler, void (*drained)(void *context), void *context);
/* While draining: cancels and puts back the running jobs now. */
void scheduler_drain_faster(struct scheduler *scheduler);
/* After drained: stops the workers, answers every call left. The caller runs the loop on until its
 * handles are closed; the scheduler is freed then. NULL is accepted. */
void scheduler_destroy(struct scheduler *scheduler);
