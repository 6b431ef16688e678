/* The main function of a worker process. */
#pragma once

struct ranks;

/* The flag that starts this program as a worker: `apspd --worker-fd 3`. Not for users. */
#define WORKER_FLAG "--worker-fd"
#define WORKER_SOCKET 3

/* Runs a worker process until the daemon closes the socket; the process has no other descriptor
 * except standard error. ranks: not NULL if this process is rank 0. Returns the exit code. */
int worker_child_run(int socket, struct ranks *ranks);
/* Runs a rank started by a launcher. Rank 0 connects to the daemon by `name`, an abstract Unix
 * socket, so it must be on the daemon's host. Returns the exit code. */
int worker_child_run_rank(const char *name, struct ranks *ranks);
