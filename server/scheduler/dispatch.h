/* Sends queued jobs to idle workers, one task per worker, and receives tasks. Loop thread. */
#pragma once

#include "proto/kind.h"

struct message;
struct scheduler;
struct scheduler_worker;

/* Gives jobs to idle workers. */
void dispatch_jobs(struct scheduler *scheduler);
/* Delivers a finished task from its worker. */
void dispatch_receive_task(struct message *message);
/* The first worker of a single device that holds the graph; NULL if none does. */
const struct scheduler_worker *dispatch_fitting_worker(const struct scheduler *scheduler,
                                                       uint32_t vertex_count, uint32_t cost);
/* The worker whose device holds the largest graph of a kind. */
const struct scheduler_worker *dispatch_largest_worker(const struct scheduler *scheduler,
                                                       uint32_t cost);
