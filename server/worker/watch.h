/* The rule that decides when a worker process is hung: it sends no heartbeat for stall_s, or its
 * task finishes no round within a deadline. The worker's thread kills such a process (process.c).
 *
 * The rule reads the memory shared by daemon and process at each tick, and counts time by the
 * daemon's own ticks, so that the process is not blamed when the daemon itself was stopped. */
#pragma once

#include "server/worker/task.h"

/* Memory shared by the daemon and a worker process: the signal of the current task, and the
 * heartbeats that show that the process is scheduled. */
struct worker_shared {
    atomic_uint heartbeats; /* counter, incremented a few times per second */
    struct task_signal signal;
};

/* The state of the rule, a plain value of the watching thread. Times are in seconds of ticks. */
struct worker_watch {
    double stall_s;
    double allowance_s; /* deadline of a round if it is longer than stall_s; below 0 = no task */
    bool is_hurried;    /* the daemon is about to exit: stall_s counts as at most 5 */
    double silence_s;
    double round_s;
    uint32_t heartbeats;
    uint64_t progress;
};

/* Starts watching a task or an opening solver. A round's deadline is the longer of both times. */
void worker_watch_begin(struct worker_watch *watch, double stall_s, double allowance_s);
/* Watches a process without a task, which only has to send heartbeats. */
void worker_watch_idle(struct worker_watch *watch, double stall_s);
/* Looks for TASK_LOSS_SILENT or TASK_LOSS_STALLED. tick_s: seconds since the previous check. */
enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s);
