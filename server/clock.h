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

/* Returns the monotonic time of the kernel's last tick, which is up to several milliseconds old.
 * The call is several times cheaper than clock_monotonic_s. */
static inline double clock_coarse_s(void)
{
    return clock_read_s(CLOCK_MONOTONIC_COARSE);
}
