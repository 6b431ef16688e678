/* The interface to systemd: receives a listening socket (sd_listen_fds(3)) and credentials
 * (systemd.exec(5)), and reports the state of the service (sd_notify(3)). Main thread. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* Returns the listening TCP socket that systemd has opened; -1 = none. STATUS_CONFIG with a problem
 * if systemd passed several sockets or another kind of socket. Removes the environment variables
 * through which systemd passed the socket. */
MUST_CHECK enum status systemd_receive_socket(int *ret_socket, struct problem *reterr);
/* Replaces "credential:NAME" by the path of the file that systemd has loaded under that name;
 * leaves every other path unchanged. size: bytes of the buffer `path`. STATUS_CONFIG with a problem
 * if systemd provides no credentials, or NAME is not a valid name. */
MUST_CHECK enum status systemd_find_credential(char *path, size_t size, struct problem *reterr);
/* Sends the state to the socket named by NOTIFY_SOCKET, if any. Gives up after 100 ms, because the
 * loop waits meanwhile; sd_notify would wait without limit for a manager that does not read. */
void systemd_notify(const char *state);
