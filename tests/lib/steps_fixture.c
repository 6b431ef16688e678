#include "tests/lib/steps_fixture.h"

/* Runs the step in a child process and counts its instructions. The child has only the calling
 * thread, and its changes do not affect the parent. Returns 0 if processes cannot be traced or if a
 * sanitizer adds instructions, and -1 if the child waits forever. */
static long try_to_count_steps(void (*step)(void *context), void *context)
{
    int status = 0;
    long count = 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#endif
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        alarm(STEPS_LIMIT_S);
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
        CHECK(signal == SIGSTOP || signal == SIGTRAP || signal == SIGALRM);
        if (signal == SIGALRM || ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
            return signal == SIGALRM ? -1 : 0;
        }
        CHECK(waitpid(child, &status, 0) == child);
        count++;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return count;
}

long count_steps(void (*step)(void *context), void *context)
{
    long count = -1;
    while (count < 0) {
        count = try_to_count_steps(step, context);
    }
    return count;
}
