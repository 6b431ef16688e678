/* Starts a program that inherits only the descriptors intended for it. Any thread. */
#pragma once

#include "proto/status.h"

#include <sys/types.h>

/* Starts the program with the socket as descriptor WORKER_SOCKET (if not negative) and standard
 * error; all other descriptors are closed or /dev/null. Without a socket the process leads a new
 * process group. Returns 0 or an errno. */
MUST_CHECK int program_start(const char *program, char *const *arguments, int socket,
                             pid_t *ret_pid);
