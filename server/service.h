/* The composition root of apspd: the only file that sees every module. Starts, connects and stops
 * them in a listed order, and runs the loop between. */
#pragma once

#include "server/config.h"

#include <stddef.h>

/* Runs until SIGTERM or SIGINT has been obeyed, or a device is lost. Returns the exit code of the
 * process: 0, 74 state directory (EX_IOERR), 75 out of memory (EX_TEMPFAIL), 78 configuration, or
 * 80 when a device failed for good in a thread of this process, which should be started again then.
 * path: of the configuration file, or NULL. With the arguments of the process the configuration is
 * read anew on SIGHUP: of what it says only the log level is obeyed while the service runs. */
int service_run(const struct config *config, const char *path, int argc, char **argv);

/* ---- service_manager.c: protocols of systemd and other service managers that speak them ---- */

/* Notification (sd_notify(3)), the watchdog, socket activation (sd_listen_fds(3)), credentials
 * (systemd.exec(5)). Main thread. */

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
