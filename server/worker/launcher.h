/* MPI ranks as the worker process: `LAUNCHER apsp-mpi --worker-rank NAME`. A process that is
 * forked before the sandbox runs this command line, as a confined daemon cannot start other
 * programs; the first rank connects to the daemon by NAME, and is a worker process from then on. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <sys/types.h>

#define WORKER_RANK_FLAG "--worker-rank"

struct worker_launcher {
    int channel;  /* a socket to the process; -1 = there is none */
    int listener; /* where the first rank connects */
    pid_t pid;
};

/* Before there is a second thread, and before the sandbox. command: the operator's. STATUS_CONFIG
 * with words when there is no program for the ranks, STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_launcher_start(const char *command,
                                             struct worker_launcher *ret_launcher,
                                             struct problem *reterr);
/* It ends, with the ranks that it has started. */
void worker_launcher_stop(struct worker_launcher *launcher);

/* Starts the ranks. Returns a descriptor that is readable once they have ended, and has their wait
 * status then; -1 on failure. */
int worker_launcher_run(const struct worker_launcher *launcher);
/* Ends the ranks that run. */
void worker_launcher_kill(const struct worker_launcher *launcher);
/* The connection of the first rank, when the listener is readable; -1: of another user, or none. */
int worker_launcher_accept(const struct worker_launcher *launcher);
/* In the first rank: connects to the daemon that listens by this name. -1 = there is none. */
int worker_launcher_connect(const char *name);
