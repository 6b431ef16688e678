/* The daemon's side of a worker that is a process of its own: starts it, gives it loads, watches
 * it, ends it when it fails, and starts another. A thread of the worker's runs it; it blocks on the
 * disk and on the process, for no longer than worker_watch.h allows; and on one that was killed and
 * stays, until that is gone or the daemon leaves. */
#pragma once

#include "server/job/worker.h"

struct worker_keeper;

/* config and health are borrowed. */
MUST_CHECK enum status worker_keeper_create(const struct worker_config *config,
                                            struct worker_health *health,
                                            struct worker_keeper **ret_keeper);
void worker_keeper_destroy(struct worker_keeper *keeper);

/* The worker's mailbox. */
struct mailbox *worker_keeper_mailbox(const struct worker_keeper *keeper);
/* The signals that works must use. Any thread. */
struct work_board *worker_keeper_board(const struct worker_keeper *keeper);
/* Estimates; NULL until the first process has opened its solver. Any thread after that. */
const struct solver *worker_keeper_model(const struct worker_keeper *keeper);

/* Until worker_keeper_stop. */
void worker_keeper_run(struct worker_keeper *keeper);
/* The daemon is about to leave: what hangs is ended sooner. Any thread. */
void worker_keeper_hurry(struct worker_keeper *keeper);
/* Any thread; there is no load. */
void worker_keeper_stop(struct worker_keeper *keeper);
