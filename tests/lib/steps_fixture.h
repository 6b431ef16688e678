/* Counts the machine instructions of a step: growth with the size of a store is detected without a
 * clock. */
#pragma once

#include "proto/status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any step takes under single-stepping. */
#define STEPS_LIMIT_S 20

/* Returns the number of instructions. A lock that another thread held during the fork stays locked
 * in the child. If the child waits for such a lock, the count is repeated in another child. */
long count_steps(void (*step)(void *context), void *context);
