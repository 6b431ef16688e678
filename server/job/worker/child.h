/* The process of a worker, from the inside: what main calls when the program was started by
 * worker_process.c. It has the socket, standard error and no other file; it leaves when the daemon
 * does.
 *
 * Its exit codes: 0 told to leave; WORKER_EXIT_DEVICE and above, the device failed, by class; and
 * WORKER_EXIT_WIRE, what came over the socket made no sense. */
#pragma once

#define WORKER_EXIT_WIRE 79
#define WORKER_EXIT_DEVICE 80

/* Returns the exit code. */
int worker_child_run(int socket);
