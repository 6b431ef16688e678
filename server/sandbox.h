/* The sandbox drops every right that the process does not need, before the process reads data from
 * clients, so that an intruder gains little. Linux: capabilities(7), landlock(7), seccomp(2).
 *
 * There are two steps. Neither can be undone, and an exec inherits both. sandbox_enter drops
 * capabilities, forbids new privileges and core dumps, and restricts file access for the calling
 * thread and for threads and processes it starts later, so it runs before there is a second thread.
 * sandbox_filter_calls forbids system calls for all threads, after all files and sockets are open.
 *
 * A missing layer is not an error: the report names the layers that this kernel or build lacks.
 * Builds with sanitizers have no layers, because the sanitizers trace and start processes and read
 * files, which the sandbox forbids. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>

/* FRONT is the daemon. WORKER is a worker process, which only solves: it opens no file by name, and
 * uses only sockets that it was given. */
enum sandbox_role { SANDBOX_FRONT, SANDBOX_WORKER };

struct sandbox_policy {
    enum sandbox_role role;
    bool devices; /* a GPU may be used: the files and system calls of its driver stay allowed */
    bool spawns;  /* the process may start this program again as a child */
    /* Lists of paths, borrowed for the call. Each ends with NULL; missing paths are skipped. */
    const char *const *writable; /* folders with full access to everything beneath them */
    const char *const *readable; /* files, and folders whose files may be read */
};

#define SANDBOX_WITHOUT_SIZE 160

struct sandbox_report {
    int landlock_abi;                   /* 0 = no file system rules */
    bool filtered;                      /* system calls are filtered */
    char without[SANDBOX_WITHOUT_SIZE]; /* names of the missing layers; empty = none is missing */
};

/* sandbox_enter and sandbox_filter_calls each fill in the parts of the report that they decide. */
void sandbox_enter(const struct sandbox_policy *policy, struct sandbox_report *report);
/* Returns STATUS_NO_MEMORY or STATUS_OK. */
MUST_CHECK enum status sandbox_filter_calls(const struct sandbox_policy *policy,
                                            struct sandbox_report *report);
