/* Restores the tables from the catalogue at start-up. Loop thread, before the loop runs. */
#pragma once

#include "proto/problem.h"

struct scheduler;

MUST_CHECK enum status restore_tables(struct scheduler *scheduler, struct problem *reterr);
/* Queues the jobs that were queued or running. Called after the workers are open. */
void restore_queue(struct scheduler *scheduler);
