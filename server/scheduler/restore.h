/* The tables as the catalogue has them, at the start. */
#pragma once

#include "proto/problem.h"

struct scheduler;

MUST_CHECK enum status restore_tables(struct scheduler *scheduler, struct problem *reterr);
/* After the workers are open: what was queued or running is queued. */
void restore_queue(struct scheduler *scheduler);
