/* The command line of apsp: chooses the command, and tells how it ended. */
#pragma once

#include "proto/ranks.h"

/* ranks: those that solve together, of which this process is one; NULL: it is alone. Returns the
 * exit code. */
int apsp_run(struct ranks *ranks, int argc, char **argv);
