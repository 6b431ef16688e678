/* Confinement: what the process gives up before it reads what others sent, so that whoever breaks
 * into it holds little.
 *
 * Two steps. confine_process takes capabilities, new privileges, core dumps and the file system
 * from the calling thread and from every thread and process started after it: so it is called
 * before there is a second thread. confine_calls takes system calls from all threads there are,
 * once everything is open. Neither can be undone, and both pass on to what an exec makes of the
 * process.
 *
 * Nothing here is refused for want of a layer: the report says what this kernel (or build) has not.
 * Builds with sanitizers have none, as their runtimes trace, start and read what a service must
 * not. Linux: capabilities(7), landlock(7), seccomp(2). */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>

/* The worker is the process that solves, and nothing else: no file by its name, no socket but those
 * that it was given. */
enum confine_role { CONFINE_FRONT, CONFINE_WORKER };

struct confine_policy {
    enum confine_role role;
    bool devices; /* a GPU may be used: its driver's files and calls stay; of a worker all calls but
                     those that lead out */
    bool spawns;  /* processes are started: exec of this very program stays, and its own children;
                     with devices, which those open, all calls but those that lead out */
    /* Borrowed for the call; end with NULL; what does not exist is passed over. */
    const char *const *writable; /* folders, for all that is done beneath them */
    const char *const *readable; /* files, or folders for the files beneath them */
};

#define CONFINE_WITHOUT_SIZE 160

struct confine_report {
    int landlock_abi;                   /* 0 = no file system rules */
    bool filtered;                      /* system calls are */
    char without[CONFINE_WITHOUT_SIZE]; /* what could not be had, in words; empty = nothing */
};

/* STATUS_NO_MEMORY. Layers that are not there are noted in the report, which both steps fill. */
MUST_CHECK enum status confine_process(const struct confine_policy *policy,
                                       struct confine_report *report);
MUST_CHECK enum status confine_calls(const struct confine_policy *policy,
                                     struct confine_report *report);
