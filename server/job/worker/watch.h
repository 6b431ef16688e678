/* Whether a worker's process still does its task: judged by the daemon from the board that they
 * share, tick by tick of the daemon's own time, so that a daemon that was itself stopped blames
 * nobody.
 *
 * A process must beat its heart, and a task must come forward: within stall_s, and longer only
 * where rounds take longer. Among even rounds that is 20 times the longest so far. Where a plan has
 * few rounds, of which the last are by far the longest, it is also 4 times all that the task has
 * taken so far. Before the first round and after the last, where nothing tells, it is what the
 * daemon allows for the whole work. An opening, which has no task, may take what is allowed and no
 * longer. A plain value of the thread that watches. */
#pragma once

#include "server/job/worker/task.h"

struct worker_watch {
    double stall_s;
    double allowance_s; /* outside the rounds */
    /* All in seconds of ticks. */
    double elapsed_s;
    double silence_s;
    double gap_s;
    double longest_gap_s;
    uint32_t beats;
    uint64_t progress;
};

/* A new work, or none: then only the heart is listened to, unless something is allowed. */
void worker_watch_begin(struct worker_watch *watch, double stall_s, double allowance_s);
/* The daemon is about to leave: for what a healthy process does often it waits no longer than five
 * seconds. */
void worker_watch_hurry(struct worker_watch *watch);
/* After tick_s. work: has its signal on the board; NULL = none. */
enum task_loss worker_watch_tick(struct worker_watch *watch, const struct task_board *board,
                                 const struct task *task, double tick_s);
