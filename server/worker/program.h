/* The start of a program that gets no descriptor but those it is meant to have. */
#pragma once

#include "proto/status.h"

#include <sys/types.h>

/* The process gets the socket as WORKER_SOCKET, if it is not negative, and standard error; all
 * other descriptors are closed or null. Without a socket it leads a process group of its own.
 * Returns 0, or an error number. */
MUST_CHECK int program_start(const char *program, char *const *arguments, int socket,
                             pid_t *ret_pid);
