/* The process of a worker, from the inside, as main starts it. */
#pragma once

struct ranks;

/* How the program is told that it is a worker: `apspd --worker-fd 3`. No part of the interface. */
#define WORKER_FLAG "--worker-fd"
#define WORKER_SOCKET 3

/* It has the socket, standard error and no other file, and leaves when the daemon does. ranks:
 * NULL, or it is the first of them. Returns the exit code. */
int worker_child_run(int socket, struct ranks *ranks);
/* Each of the ranks that a launcher has started. The first finds the daemon by the name, so it is
 * on the daemon's host. Returns the exit code. */
int worker_child_run_rank(const char *name, struct ranks *ranks);
