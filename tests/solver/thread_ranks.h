/* Ranks that are threads of this program and reach each other by memory. */
#pragma once

#include "proto/ranks.h"

#define THREAD_RANKS_MAX 4

/* Calls `work` once for each of `count` ranks, on a thread of its own, all at the same time. Ends
 * the program when there is no thread. */
void thread_ranks_run(uint32_t count, void (*work)(const struct ranks *ranks, void *context),
                      void *context);
