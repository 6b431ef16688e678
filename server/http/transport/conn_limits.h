/* Limits the number of connections, in total and per address. Any thread, without a lock. A hash
 * with a secret seed maps each address to one of a fixed number of counters, so the memory is
 * constant, and two addresses rarely share a counter. */
#pragma once

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CONN_LIMITS_COUNTERS 65536u
/* Counter of a connection without an IP address; only the total limit applies to the connection. */
#define CONN_LIMITS_NO_ADDRESS UINT32_MAX
enum conn_verdict {
    CONN_OK,
    CONN_ADDRESS_FULL, /* too many connections from this address: refuse */
    CONN_FULL,         /* too many connections: refuse */
    CONN_OVERFLOW      /* too many connections even for refusals: close without an answer */
};

/* Limits and counters. The owner zeroes the struct, then sets the limits and a random seed. */
struct conn_limits {
    uint32_t connections;
    uint32_t refused_connections; /* further connections, accepted only to send a refusal */
    uint32_t of_address;          /* limit per address; 0: no limit */
    uint64_t seed;
    atomic_uint all;
    atomic_uint counters[CONN_LIMITS_COUNTERS];
};

/* Counts a connection until conn_limits_leave, even a refused one. address may be NULL. */
enum conn_verdict conn_limits_enter(struct conn_limits *limits, const struct sockaddr *address,
                                    uint32_t *ret_counter);
void conn_limits_leave(struct conn_limits *limits, uint32_t counter);
