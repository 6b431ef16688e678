/* The sandbox takes from the process all that it does not need, before it reads what others sent,
 * so that somebody who breaks into it gains little. Linux: capabilities(7), landlock(7),
 * seccomp(2).
 *
 * Two steps, neither of which can be undone, and an exec passes both on. sandbox_enter takes
 * capabilities, new privileges, core dumps and the file system from the calling thread and from
 * threads and processes that it starts afterwards, so it is called before there is a second thread.
 * sandbox_filter_calls takes system calls from all threads there are, once everything is open.
 *
 * A missing layer is no error: the report names the layers that this kernel or build lacks. Builds
 * with sanitizers lack all, since their runtimes trace, start and read more than a service may. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>

/* The worker only solves: it opens no file by name, and no socket besides those it was given. */
enum sandbox_role { SANDBOX_FRONT, SANDBOX_WORKER };

struct sandbox_policy {
    enum sandbox_role role;
    bool devices; /* a GPU may be used: its driver's files and calls stay */
    bool spawns;  /* this very program may be started again, as a child */
    /* Borrowed for the call; each list ends with NULL; paths that do not exist are passed over. */
    const char *const *writable; /* folders, for all that is done beneath them */
    const char *const *readable; /* files, or folders for the files beneath them */
};

#define SANDBOX_WITHOUT_SIZE 160

struct sandbox_report {
    int landlock_abi;                   /* 0 = no file system rules */
    bool filtered;                      /* system calls are */
    char without[SANDBOX_WITHOUT_SIZE]; /* the missing layers, in words; empty = none */
};

/* Both fill the report. */
void sandbox_enter(const struct sandbox_policy *policy, struct sandbox_report *report);
/* Returns STATUS_NO_MEMORY or STATUS_OK. */
MUST_CHECK enum status sandbox_filter_calls(const struct sandbox_policy *policy,
                                            struct sandbox_report *report);
