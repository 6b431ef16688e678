/* Counts failed logins per address and minute. Any thread, without a lock. */
#pragma once

#include "server/http/transport/conn_limits.h"

#include <stdatomic.h>

#define FAILED_LOGINS_WINDOW_S 60

/* Counters of failed logins. The owner zeroes the struct, then sets the limit. */
struct failed_logins {
    uint32_t limit; /* failed logins of one address per window; 0: no limit */
    /* Indexed like the counters of struct conn_limits. The high 32 bits are the number of the
     * window, the low 32 bits the number of failed logins in that window. */
    atomic_ullong counters[CONN_LIMITS_COUNTERS];
};

/* Counts a failed login from the address with this counter. Returns 0 if the limit is not exceeded
 * (respond with 401), else the seconds for the Retry-After header of a 429. */
uint32_t failed_logins_count(struct failed_logins *logins, uint32_t counter, double now_s);
