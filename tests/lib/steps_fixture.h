/* Counts the machine instructions of a step. The count tells a test, without a clock, whether a
 * step takes longer if there are more objects. */
#pragma once

#include "proto/status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time limit in seconds for one step. Every step takes less time, even in single-step mode. */
#define STEPS_LIMIT_S 20

/* Returns the number of instructions of the step. If a child waits for a lock that another thread
 * held during the fork, the instructions are counted again in another child. */
long count_steps(void (*step)(void *context), void *context);
