/* The two clocks: wall time for documents, monotonic time for durations and deadlines. */
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

/* Monotonic time of the last tick, some milliseconds ago: where thousandths do not matter, at a
 * fraction of the cost. */
static inline double clock_coarse_s(void)
{
    return clock_read_s(CLOCK_MONOTONIC_COARSE);
}
