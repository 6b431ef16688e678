#include "server/clock.h"

#include <time.h>

static double read_s(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_wall_s(void)
{
    return read_s(CLOCK_REALTIME);
}

double clock_monotonic_s(void)
{
    return read_s(CLOCK_MONOTONIC);
}

double clock_coarse_s(void)
{
    return read_s(CLOCK_MONOTONIC_COARSE);
}
