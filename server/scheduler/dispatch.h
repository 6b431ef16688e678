/* Sends queued jobs to idle workers, one task per worker; receives finished tasks. Loop thread. */
#pragma once

#include "proto/kind.h"

struct message;
struct scheduler;
struct scheduler_worker;

/* Gives jobs to idle workers. */
void dispatch_jobs(struct scheduler *scheduler);
/* Handles the message by which a worker returns a finished task. */
void dispatch_receive_task(struct message *message);
/* Returns the first single-device worker whose device can hold the graph; NULL if there is none. */
const struct scheduler_worker *dispatch_fitting_worker(const struct scheduler *scheduler,
                                                       uint32_t vertex_count, uint32_t cost);
/* Returns the worker whose device can hold the largest graph with this cost (graph_cost). */
const struct scheduler_worker *dispatch_largest_worker(const struct scheduler *scheduler,
                                                       uint32_t cost);
