/* Ranks as threads of this program that share memory. */
#pragma once

#include "proto/ranks.h"

#define THREAD_RANKS_MAX 4

/* Runs `work` for each of `count` ranks concurrently, each in a separate thread. Ends the program
 * if a thread cannot be started. */
void thread_ranks_run(uint32_t count, void (*work)(const struct ranks *ranks, void *context),
                      void *context);
