/* The failed logins of each address in a minute. Any thread, without a lock. */
#pragma once

#include "server/http/transport/conn_limits.h"

#include <stdatomic.h>

#define FAILED_LOGINS_WINDOW_S 60

/* Zeroed but for the limit. */
struct failed_logins {
    uint32_t limit; /* of one address in a window; 0: no limit */
    /* By the counter of the address: the number of the window; in the low 32 bits, its count. */
    atomic_ullong counters[CONN_LIMITS_COUNTERS];
};

/* Counts a failed login from the address of this counter. Returns 0 to answer 401, else the seconds
 * for the Retry-After of a 429. */
uint32_t failed_logins_count(struct failed_logins *logins, uint32_t counter, double now_s);
