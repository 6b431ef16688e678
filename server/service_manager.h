/* Protocols of systemd and other service managers that speak them: notification (sd_notify(3)), the
 * watchdog, socket activation (sd_listen_fds(3)), credentials (systemd.exec(5)). Main thread. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* A socket to tell the manager by, opened while the process may open one: a descriptor that the
 * caller closes; -1 without a manager. */
int service_manager_open(void);
/* Sends a state of sd_notify(3), such as "READY=1"; lines are separated by '\n'. manager: the
 * socket of service_manager_open. A message that cannot be sent is dropped: the manager is gone. */
void service_manager_notify(int manager, const char *state);
/* Half of the watchdog's interval, at which to send "WATCHDOG=1"; 0 = no watchdog. */
uint64_t service_manager_watchdog_ms(void);
/* The socket to answer on that the manager has opened; -1 = none. STATUS_CONFIG with words when
 * there are several. The variables that told of it are gone after this. */
MUST_CHECK enum status service_manager_take_socket(int *ret_socket, struct problem *reterr);
/* Puts in the place of "credential:NAME" the path of the file that the manager has loaded by that
 * name; leaves every other path as it is. size: the room of path. STATUS_CONFIG with words when
 * there is no manager that hands out credentials, or NAME is none. */
MUST_CHECK enum status service_manager_find_credential(char *path, size_t size,
                                                       struct problem *reterr);
