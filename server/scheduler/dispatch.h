/* Jobs on their way from the queue to the workers and back. One task at a time: a worker gets its
 * next one when it is idle. Loop thread. */
#pragma once

#include "proto/kind.h"

struct message;
struct scheduler;
struct scheduler_worker;

/* Gives jobs to the workers that are idle. */
void dispatch_jobs(struct scheduler *scheduler);
/* Delivers a task that comes home from its worker. */
void dispatch_receive_task(struct message *message);
/* The worker whose device holds the largest graph of a kind. */
const struct scheduler_worker *dispatch_largest_worker(const struct scheduler *scheduler,
                                                       uint32_t cost);
