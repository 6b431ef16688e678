/* What systemd, or another that speaks its protocols, is told by the service and hands to it:
 * sd_notify(3), the watchdog, socket activation (sd_listen_fds(3)), credentials (systemd.exec(5)).
 * Main thread. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* A socket to tell the manager by, opened while the process may open one: a descriptor that the
 * caller closes; -1 without a manager. */
int service_manager_open(void);
/* Sends what the manager asked to be told, such as "READY=1"; lines are separated by '\n'. manager:
 * of service_manager_open. What cannot be sent is lost, as a manager that is gone wants nothing. */
void service_manager_notify(int manager, const char *state);
/* How often the manager wants to hear "WATCHDOG=1", twice over; 0 = not at all. */
uint64_t service_manager_watchdog_ms(void);
/* The socket to answer on that the manager has opened; -1 = none. STATUS_CONFIG with words when
 * there are several. The variables that told of it are gone after this. */
MUST_CHECK enum status service_manager_take_socket(int *ret_socket, struct problem *reterr);
/* Puts in the place of "credential:NAME" the path of the file that the manager has loaded by that
 * name; leaves every other path as it is. size: the room of path. STATUS_CONFIG with words when
 * there is no manager that hands out credentials, or NAME is none. */
MUST_CHECK enum status service_manager_find_credential(char *path, size_t size,
                                                       struct problem *reterr);
