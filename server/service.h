/* The composition root of apspd: the only file that sees every module. Starts, connects and stops
 * them in a listed order, and runs the loop between. */
#pragma once

#include "server/config.h"

/* Reads the configuration anew, for SIGHUP: of what it says only the log level is obeyed while the
 * service runs. */
struct service_reload {
    void *context;
    const char *path; /* of the file that load reads; NULL = none */
    enum status (*load)(void *context, struct config *ret_config, struct problem *reterr);
};

/* A device failed for good in a thread of this process: whoever started it should start it again.
 */
#define SERVICE_EXIT_DEVICE 80

/* Runs until SIGTERM or SIGINT has been obeyed, or a device is lost. Returns the exit code of the
 * process: 0, 74 state directory (EX_IOERR), 75 out of memory (EX_TEMPFAIL), 78 configuration,
 * SERVICE_EXIT_DEVICE. */
int service_run(const struct config *config, const struct service_reload *reload);
