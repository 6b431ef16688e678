#include "server/command/interruption.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void note(int signal_number)
{
    (void)signal_number;
    seen = 1;
}

void interruption_watch(void)
{
    /* Without SA_RESTART: a read that waits for a pipe returns and the flag is looked at. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interruption_seen(void)
{
    return seen != 0;
}

bool interruption_cancels(void *context)
{
    (void)context;
    return interruption_seen();
}
