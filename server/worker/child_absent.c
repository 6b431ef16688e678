#include "server/worker/child.h"

#include <stdio.h>
#include <sysexits.h>

int worker_child_run_rank(const char *name, struct ranks *ranks)
{
    (void)name, (void)ranks;
    fputs("apsp-mpi was built without the service, which starts its ranks.\n", stderr);
    return EX_CONFIG;
}
