/* The composition root of apspd: the only file that sees every module. Starts, connects and stops
 * them in a listed order, and runs the loop between. */
#pragma once

#include "server/config.h"

/* Runs until SIGTERM or SIGINT has been obeyed, or a device is lost. Returns the exit code of the
 * process: 0, 74 state directory (EX_IOERR), 75 out of memory (EX_TEMPFAIL), 78 configuration, or
 * 80 when a device failed for good in a thread of this process, which should be started again then.
 * path: of the configuration file, or NULL. With the arguments of the process the configuration is
 * read anew on SIGHUP: of what it says only the log level is obeyed while the service runs. */
int service_run(const struct config *config, const char *path, int argc, char **argv);
