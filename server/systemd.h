/* This module receives what systemd hands to the service: a socket to answer on (sd_listen_fds(3)),
 * and credentials (systemd.exec(5)); and tells systemd the state of the service (sd_notify(3)).
 * Main thread. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* The listening TCP socket that systemd has opened; -1 = none. STATUS_CONFIG with words when there
 * are several, or it is another kind of socket. The variables that announced it are gone after
 * this. */
MUST_CHECK enum status systemd_receive_socket(int *ret_socket, struct problem *reterr);
/* Replaces "credential:NAME" by the path of the file that systemd has loaded by that name; leaves
 * every other path as it is. size: the room of path. STATUS_CONFIG with words when systemd hands
 * out no credentials, or NAME is none. */
MUST_CHECK enum status systemd_find_credential(char *path, size_t size, struct problem *reterr);
/* Sends the state to the socket that NOTIFY_SOCKET names, if any. sd_notify waits without a limit
 * for a manager that reads nothing; this gives up after 100 ms, as the loop waits meanwhile. */
void systemd_notify(const char *state);
