/* apsp-mpi: an MPI rank, started by mpirun or srun. The rank runs apsp, or the worker of an apspd
 * that is configured with solver.launcher. Without other ranks the program behaves like apsp. */
#include "server/command/apsp.h"
#include "server/solver/ranks_mpi.h"
#include "server/worker/child.h"
#include "server/worker/launcher.h"

#include <string.h>

int main(int argc, char **argv)
{
    struct ranks *ranks = ranks_mpi_open(&argc, &argv);
    const bool is_worker = argc == 3 && strcmp(argv[1], WORKER_RANK_FLAG) == 0;
    const int code = is_worker ? worker_child_run_rank(argv[2], ranks)
                               : apsp_run(ranks->count > 1 ? ranks : NULL, argc, argv);
    ranks_mpi_close();
    return code;
}
