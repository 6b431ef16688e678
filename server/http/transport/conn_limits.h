/* Limits the number of connections, in total and per address. Any thread, without a lock. Addresses
 * share a fixed number of counters, chosen by a hash with a secret seed: memory is constant, and
 * two addresses rarely count as one. */
#pragma once

#include "proto/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct conn_limits;

#define CONN_LIMITS_COUNTERS 65536u
/* Counter of a connection without an IP address, which only the total limit applies to. */
#define CONN_LIMITS_NO_ADDRESS UINT32_MAX
enum conn_verdict {
    CONN_OK,
    CONN_ADDRESS_FULL, /* too many connections from this address: refuse */
    CONN_FULL,         /* too many connections: refuse */
    CONN_OVERFLOW      /* too many even to answer with a refusal: close */
};

struct conn_limits_rules {
    uint32_t connections;
    uint32_t refused_connections; /* further connections, accepted only to send a refusal */
    uint32_t of_address;          /* limit per address; 0: no limit */
};

MUST_CHECK enum status conn_limits_create(const struct conn_limits_rules *rules,
                                          struct conn_limits **ret_limits);
void conn_limits_destroy(struct conn_limits *limits);
/* Counts a connection until conn_limits_leave, whatever the verdict. address may be NULL. */
enum conn_verdict conn_limits_enter(struct conn_limits *limits, const struct sockaddr *address,
                                    uint32_t *ret_counter);
void conn_limits_leave(struct conn_limits *limits, uint32_t counter);
