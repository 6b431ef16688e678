/* Ranks by MPI. One for the process; the thread that opens it makes all calls. A failure of MPI
 * ends all ranks. */
#pragma once

#include "proto/ranks.h"

/* The processes that mpirun or srun started with this one; takes the launcher's own arguments away.
 * All but the first have no standard output. */
struct ranks *ranks_mpi_open(int *argc, char ***argv);
void ranks_mpi_close(struct ranks *ranks);
