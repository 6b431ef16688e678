/* How many machine instructions a step takes: what grows with a store is seen without a clock. */
#pragma once

#include "proto/status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the step in a child process, which has this thread alone, instruction by instruction. What
 * the child changes is lost. 0 where a process may not be traced. */
static inline long count_steps(void (*step)(void *context), void *context)
{
    int status = 0;
    long count = 0;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        raise(SIGSTOP);
        step(context);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) {
        return 0;
    }
    while (WIFSTOPPED(status)) {
        const int signal = WSTOPSIG(status);
        CHECK(signal == SIGSTOP || signal == SIGTRAP);
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
        CHECK(waitpid(child, &status, 0) == child);
        count++;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return count;
}
