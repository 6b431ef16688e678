/* The main function of apsp and apsp-mpi: selects the command and returns its exit code. */
#pragma once

#include "proto/ranks.h"

/* Runs the command that argv names. ranks: the ranks that solve together with this process, or
 * NULL. Returns the exit code. */
int apsp_run(struct ranks *ranks, int argc, char **argv);
