/* How many connections there may be, in all and from one address. Any thread, without a lock:
 * addresses share counters by a hash with a secret seed, so two seldom count as one, and the memory
 * is the same however many there are. */
#pragma once

#include "proto/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct conn_limits;

#define CONN_LIMITS_COUNTERS 65536u
/* The counter of a connection without an IP address: it counts among all connections only. */
#define CONN_LIMITS_NO_ADDRESS UINT32_MAX
enum conn_verdict {
    CONN_OK,
    CONN_ADDRESS_FULL, /* too many connections of this address */
    CONN_FULL,         /* too many connections */
    CONN_OVERFLOW      /* so many that the client cannot even be told */
};

struct conn_limits_rules {
    uint32_t connections;
    uint32_t refused_connections; /* beyond them, accepted to be answered with a refusal */
    uint32_t of_address;          /* 0: no limit */
};

MUST_CHECK enum status conn_limits_create(const struct conn_limits_rules *rules,
                                          struct conn_limits **ret_limits);
void conn_limits_destroy(struct conn_limits *limits);
/* The connection counts, whatever the verdict, until conn_limits_leave. address: NULL is none. */
enum conn_verdict conn_limits_enter(struct conn_limits *limits, const struct sockaddr *address,
                                    uint32_t *ret_counter);
void conn_limits_leave(struct conn_limits *limits, uint32_t counter);
