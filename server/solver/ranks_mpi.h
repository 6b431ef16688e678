/* An implementation of struct ranks with MPI. A process opens it at most once; the thread that
 * opens it makes all calls. A failure of MPI ends all ranks. */
#pragma once

#include "proto/ranks.h"

/* Connects the processes that mpirun or srun has started together, and removes the launcher's own
 * arguments. In all ranks but the first, standard output is /dev/null. */
struct ranks *ranks_mpi_open(int *argc, char ***argv);
void ranks_mpi_close(void);
