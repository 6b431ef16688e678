/* One process of a worker as the daemon talks to it: opens it, hands it a task, hears its end, and
 * watches it all the while. Whatever it should not do is a loss, after which it is to be ended.
 * Embedded in its keeper, of the keeper's thread. */
#pragma once

#include "server/job/worker/process.h"
#include "server/job/worker/protocol.h"
#include "server/job/worker/watch.h"

struct worker_link {
    struct worker_process process;
    struct task_board *board; /* shared with it; borrowed */
    int board_descriptor;
    int bell; /* wakes the keeper's thread; borrowed */
    uint32_t stall_s;
    struct worker_watch watch;
    double looked_at_s;  /* by the watch */
    atomic_bool hurried; /* the daemon is about to leave: set by any thread */
    struct task *task;   /* in hand; NULL = none */
    bool ended;          /* the task has its end */
};

/* After the process has been started: what it has to say of its solver, checked. */
MUST_CHECK enum task_loss worker_link_open(struct worker_link *request,
                                           const struct worker_setup *setup,
                                           struct wire_opened *ret_opened);
/* Until there is something at the bell, or the process is lost. */
MUST_CHECK enum task_loss worker_link_idle(struct worker_link *request);
/* Unless request->work has its end already: sends it, calls meanwhile, hears its end. model:
 * estimates, and learns the figures that the process has learned. */
MUST_CHECK enum task_loss worker_link_carry_out(struct worker_link *request, struct solver *model,
                                                void (*meanwhile)(struct task *task));
