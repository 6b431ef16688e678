#include "server/worker/child.h"

#include <stdio.h>
#include <sysexits.h>

int worker_child_run_rank(const char *name, struct ranks *ranks)
{
    (void)name, (void)ranks;
    fputs("This apsp-mpi was built without the service and cannot be its worker.\n", stderr);
    return EX_CONFIG;
}
