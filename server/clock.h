/* Reads the system clocks: wall time for documents, monotonic time for durations and deadlines. */
#pragma once

#include <time.h>

static inline double clock_read_s(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline double clock_wall_s(void)
{
    return clock_read_s(CLOCK_REALTIME);
}

static inline double clock_monotonic_s(void)
{
    return clock_read_s(CLOCK_MONOTONIC);
}
