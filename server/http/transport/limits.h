/* Limits of connections, in all and of one address, and of the failed logins of one address in a
 * minute. Any thread, without a lock: addresses share counters by a hash with a secret seed, so two
 * seldom count as one, and the memory is the same however many there are. */
#pragma once

#include "proto/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct limits;

/* The counter of a connection without an IP address: it counts among all connections only. */
#define LIMITS_NO_ADDRESS UINT32_MAX
/* The window in which failed logins are counted. */
#define LIMITS_LOGIN_WINDOW_S 60

enum limits_verdict {
    LIMITS_OK,
    LIMITS_ADDRESS_FULL, /* too many connections of this address */
    LIMITS_FULL,         /* too many connections */
    LIMITS_OVERFLOW      /* so many that the client cannot even be told */
};

struct limits_rules {
    uint32_t connections;
    uint32_t refused_connections; /* beyond them, accepted to be answered with a refusal */
    uint32_t of_address;          /* 0: no limit */
    uint32_t failed_logins;       /* of one address in a window; 0: no limit */
};

MUST_CHECK enum status limits_create(const struct limits_rules *rules, struct limits **ret_limits);
void limits_destroy(struct limits *limits);
/* The connection counts, whatever the verdict, until limits_leave. address: NULL is none. */
enum limits_verdict limits_enter(struct limits *limits, const struct sockaddr *address,
                                 uint32_t *ret_counter);
void limits_leave(struct limits *limits, uint32_t counter);
/* Counts a failed login from the address of this counter. Returns 0 to answer 401, else the seconds
 * for the Retry-After of a 429. */
uint32_t limits_login_failed(struct limits *limits, uint32_t counter, double now_s);
