/* apsp: this process is alone. */
#include "server/command/command.h"

struct ranks *command_ranks_open(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return NULL;
}

void command_ranks_close(struct ranks *ranks)
{
    (void)ranks;
}

uint32_t command_ranks_threads(const struct ranks *ranks)
{
    (void)ranks;
    return 0;
}
