/* The composition root of apspd: the only file that knows every module. It starts, connects and
 * stops the modules in a fixed order, and runs the event loop in between. Main thread. */
#pragma once

#include "server/config.h"

/* Runs the service until SIGTERM or SIGINT, or until a device is lost. Returns the exit code of the
 * process: 0 after a normal stop; 74 for a failure of the state directory (EX_IOERR); 75 for lack
 * of memory (EX_TEMPFAIL); 78 for a configuration error; 80 if a device of this process failed
 * permanently, so that the process must be restarted. path: the configuration file, or NULL. SIGHUP
 * reads the configuration again with argc and argv; of the new values only the log level takes
 * effect while the service runs. */
int service_run(const struct config *config, const char *path, int argc, char **argv);
