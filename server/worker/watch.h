/* The one rule by which a worker process counts as hung: it sends no heartbeat for stall_s, or its
 * task finishes no round within a deadline. The thread of the worker kills such a process
 * (process.c).
 *
 * The rule is judged from the memory that daemon and process share, tick by tick of the daemon's
 * own time, so that a daemon that was itself stopped blames nobody. */
#pragma once

#include "server/worker/task.h"

/* Shared memory of the daemon and a worker process: the signal of the task in hand, and the
 * heartbeat by which the daemon knows that the process is scheduled. */
struct worker_shared {
    atomic_uint heartbeats; /* a few each second */
    struct task_signal signal;
};

/* A plain value of the thread that watches. All times are seconds of ticks. */
struct worker_watch {
    double stall_s;
    double allowance_s; /* for a round, where that is longer than stall_s; below 0: no task */
    bool is_hurried;    /* the daemon is leaving: stall_s counts as five seconds at most */
    double silence_s;
    double round_s;
    uint32_t heartbeats;
    uint64_t progress;
};

/* A task, or an opening, is watched from now on. The deadline of a round is stall_s, or allowance_s
 * where that is longer. */
void worker_watch_begin(struct worker_watch *watch, double stall_s, double allowance_s);
/* Without a task only heartbeats are waited for. */
void worker_watch_idle(struct worker_watch *watch, double stall_s);
/* After tick_s: TASK_LOSS_SILENT, TASK_LOSS_STALLED or TASK_LOSS_NONE. */
enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s);
