/* How many machine instructions a step takes: what grows with a store is seen without a clock. */
#pragma once

#include "proto/status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any step takes, one instruction at a time. */
#define STEPS_LIMIT_S 20

/* A lock that another thread held when the process was copied stays locked in the child, which may
 * wait for it: then by another copy. */
long count_steps(void (*step)(void *context), void *context);
