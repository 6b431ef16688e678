/* Limits of connections and their deadlines.
 *
 * How many: connections, in all and of one address, and of the failed logins of one address in a
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

/* ---- Deadlines ----
 *
 * They stand beside libmicrohttpd's own, which knows only the time without any byte and so lets a
 * client live that drips. A connection is late when it
 *   - does not complete the headers of a request within header_s,
 *   - sends a body, or takes an answer, slower than the rate floor for header_s or stall_s.
 * Rates are judged by a token bucket: each byte is worth 1/rate_floor seconds, and at most one
 * timeout of credit is kept. The bytes of a body are those that libmicrohttpd has delivered. Those
 * of an answer are the acknowledged ones of a TCP socket, as the kernel's buffers hide the rest; on
 * a Unix socket, where the kernel counts none, those that the content callbacks have produced; an
 * answer of a known size without such a callback is to be taken whole within stall_s and the time
 * of its size at the rate floor.
 *
 * Belongs to the thread of the connection. Of the socket it only reads the kernel's counters. */
struct deadline_rules {
    double header_s;     /* for the headers of a request; also the bucket of a body */
    double stall_s;      /* the bucket of an answer */
    uint64_t rate_floor; /* bytes a second; 0: no floor */
};

enum conn_phase {
    PHASE_HEADERS, /* the next request is awaited */
    PHASE_BODY,
    PHASE_HANDLER, /* nothing is expected of the client */
    PHASE_ANSWER
};

struct deadlines {
    enum conn_phase phase;
    double since_s;    /* when PHASE_HEADERS began */
    uint64_t received; /* bytes of bodies so far; the owner counts */
    uint64_t produced; /* bytes of this answer from its content callback so far; likewise */
    uint64_t whole;    /* bytes of this answer if there is no such callback; likewise */
    /* The token bucket. */
    double checked_s; /* below 0: it is full, from the next check on */
    double credit_s;
    uint64_t counted;
    bool had_left;       /* at the last check the client had closed its side within a body */
    unsigned full_count; /* checks in a row that found bytes of a body left in the socket */
};

void limits_start_phase(struct deadlines *deadlines, enum conn_phase phase, double now_s);
/* Whether the connection has to end. Call it a few times a second. */
bool limits_is_late(struct deadlines *deadlines, const struct deadline_rules *rules, int descriptor,
                    double now_s);
/* Whether bytes of a body lie in the socket and none of it was delivered for a second, by the calls
 * before limits_is_late: libmicrohttpd has no room for the line before a chunk, and reads no more.
 * True once. */
bool limits_is_stuck(struct deadlines *deadlines, int descriptor);
/* Whether the client of a TCP connection has closed it, or its sending side. */
bool limits_peer_has_left(int descriptor);
/* Whether some of what was written to a TCP socket is not acknowledged yet. */
bool limits_is_sending(int descriptor);
