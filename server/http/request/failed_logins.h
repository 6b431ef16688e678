/* Counts failed logins per address and minute. Part of http_context; any thread, without a lock. */
#pragma once

#include "server/http/transport/conn_limits.h"

#include <stdatomic.h>

#define FAILED_LOGINS_WINDOW_S 60

/* Valid when zeroed; the owner then sets the limit. */
struct failed_logins {
    uint32_t limit; /* failed logins of one address per window; 0: no limit */
    /* Indexed by the address's counter of conn_limits.h. High 32 bits: number of the window; low 32
     * bits: failed logins in that window. */
    atomic_ullong counters[CONN_LIMITS_COUNTERS];
};

/* Counts a failed login from the address with this counter. Returns 0 when the answer is 401, else
 * the seconds for the Retry-After header of a 429. */
uint32_t failed_logins_count(struct failed_logins *logins, uint32_t counter, double now_s);
