/* One process of a worker as the daemon talks to it: opens it, hands it a load, hears its end, and
 * watches it all the while. Whatever it should not do is a loss, after which it is to be ended.
 * Embedded in its keeper, of the keeper's thread. */
#pragma once

#include "server/job/worker_process.h"
#include "server/job/worker_watch.h"
#include "server/job/worker_wire.h"

struct worker_exchange {
    struct worker_process process;
    struct work_board *board; /* shared with it; borrowed */
    int board_descriptor;
    int bell; /* wakes the keeper's thread; borrowed */
    uint32_t stall_s;
    struct worker_watch watch;
    double looked_at_s;  /* by the watch */
    atomic_bool hurried; /* the daemon is about to leave: set by any thread */
    struct work_load *load;
    bool ended[WORK_LOAD_LIMIT]; /* works of the load that have an end */
    bool told[WORK_LOAD_LIMIT];  /* those that have it from the process */
};

/* After the process has been started: what it has to say of its solver, checked. */
MUST_CHECK enum work_loss worker_exchange_open(struct worker_exchange *exchange,
                                               const struct worker_setup *setup,
                                               struct wire_opened *ret_opened);
/* Until there is something at the bell, or the process is lost. */
MUST_CHECK enum work_loss worker_exchange_idle(struct worker_exchange *exchange);
/* What it has said of its load: all of that is as if it had not. */
void worker_exchange_disbelieve(struct worker_exchange *exchange);
/* The works of exchange->load that have no end yet: sends them, calls meanwhile, hears their ends.
 * model: estimates, and learns the figures that the process has learned. */
MUST_CHECK enum work_loss
worker_exchange_carry_out(struct worker_exchange *exchange, struct solver *model,
                          void (*meanwhile)(struct work_load *load, const bool *ended));
