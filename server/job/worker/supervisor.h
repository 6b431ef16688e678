/* The daemon's side of a worker that is a process of its own: starts it, gives it jobs, watches
 * it, ends it when it fails, and starts another. A thread of the worker's runs it; it blocks on the
 * disk and on the process, for no longer than worker_watch.h allows; and on one that was killed and
 * stays, until that is gone or the daemon leaves. */
#pragma once

#include "server/job/worker/worker.h"

struct supervisor;

/* config and health are borrowed. */
MUST_CHECK enum status supervisor_create(const struct worker_config *config,
                                         struct worker_health *health,
                                         struct supervisor **ret_keeper);
void supervisor_destroy(struct supervisor *keeper);

/* The worker's mailbox. */
struct mailbox *supervisor_mailbox(const struct supervisor *keeper);
/* Has the signal that works must use. Any thread. */
struct task_board *supervisor_board(const struct supervisor *keeper);
/* Estimates; NULL until the first process has opened its solver. Any thread after that. */
const struct solver *supervisor_model(const struct supervisor *keeper);

/* Until worker_keeper_stop. */
void supervisor_run(struct supervisor *keeper);
/* The daemon is about to leave: what hangs is ended sooner. Any thread. */
void supervisor_hurry(struct supervisor *keeper);
/* Any thread; there is no job in hand. */
void supervisor_stop(struct supervisor *keeper);
