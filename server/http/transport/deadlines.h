/* Deadlines of a connection. They stand beside libmicrohttpd's own, which knows only the time
 * without any byte and so lets a client live that drips. A connection is late when it
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
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
    bool had_left; /* at the last check the client had closed its side within a body */
};

void deadlines_start_phase(struct deadlines *deadlines, enum conn_phase phase, double now_s);
/* Whether the connection has to end. Call it a few times a second. */
bool deadlines_are_missed(struct deadlines *deadlines, const struct deadline_rules *rules,
                          int descriptor, double now_s);
/* Whether the client of a TCP connection has closed it, or its sending side. */
bool deadlines_peer_has_left(int descriptor);
/* Whether some of what was written to a TCP socket is not acknowledged yet. */
bool deadlines_is_sending(int descriptor);
