/* MPI ranks as the worker process: `LAUNCHER apsp-mpi --worker-rank NAME`. A sandboxed daemon
 * cannot start other programs, so a helper process forked before the sandbox runs this command.
 * Rank 0 connects to the daemon by NAME and then acts as a worker process. The worker's thread owns
 * the ranks. */
#pragma once

#include "proto/problem.h"

#include <sys/types.h>

#define WORKER_RANK_FLAG "--worker-rank"

struct worker_launcher {
    int channel;  /* socket to the helper process; -1 = none */
    int listener; /* socket that rank 0 connects to */
    pid_t pid;
};

/* Starts the helper process, before the sandbox and before there is a second thread. command: the
 * value of solver.launcher. STATUS_CONFIG if apsp-mpi is missing, STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_launcher_start(const char *command,
                                             struct worker_launcher *ret_launcher,
                                             struct problem *reterr);
/* Ends the helper process and its ranks. */
void worker_launcher_stop(struct worker_launcher *launcher);

/* Starts the ranks. Returns a descriptor that becomes readable when the ranks have ended and then
 * contains their wait status; -1 on failure. */
int worker_launcher_run(const struct worker_launcher *launcher);
void worker_launcher_kill(const struct worker_launcher *launcher);
/* Accepts rank 0 when the listener is readable. Returns -1 if no peer is connecting, or if the peer
 * belongs to another user. */
int worker_launcher_accept(const struct worker_launcher *launcher);
/* Called in rank 0: connects to the daemon that listens by this name; -1 on failure. */
int worker_launcher_connect(const char *name);
