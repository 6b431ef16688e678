/* The clock for the phases that a solver reports. Any thread. */
#pragma once

#include <time.h>

static inline double stopwatch_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
