/* Deadlines of a connection. libmicrohttpd's own timeout limits only the time without any byte, so
 * a client that sends an occasional byte would stay connected forever. A connection is late if it
 *   - does not complete the headers of a request within header_timeout_s,
 *   - sends a body slower than rate_floor for header_timeout_s, or
 *   - accepts an answer slower than rate_floor for stall_timeout_s.
 * Rates are judged by a token bucket: each byte adds 1/rate_floor seconds, up to one timeout. Body
 * bytes count when libmicrohttpd delivers them. Bytes of an answer count when TCP acknowledges
 * them, because other bytes may still be in kernel buffers. A Unix socket has no such counter:
 * there the bytes that the content callback has produced count, and an answer without a callback
 * must finish within stall_timeout_s plus its size divided by rate_floor.
 *
 * Only the thread of the connection calls this file, which reads the socket's kernel counters. */
#pragma once

#include "server/config.h"

enum conn_phase {
    PHASE_HEADERS, /* waiting for the headers of a request */
    PHASE_BODY,
    PHASE_HANDLER, /* waiting for the server, not for the client */
    PHASE_ANSWER
};

struct deadlines {
    enum conn_phase phase;
    double since_s;    /* time of the last phase change; used in PHASE_HEADERS */
    uint64_t received; /* body bytes received; updated by the caller */
    uint64_t produced; /* bytes that the content callback produced; updated by the caller */
    uint64_t whole;    /* size of an answer without a content callback; set by the caller */
    /* The token bucket. */
    double checked_s; /* time of the last check; below 0: the next check fills the bucket */
    double credit_s;
    uint64_t counted;
    bool had_left; /* at the last check the client had closed its side during a body */
};

void deadlines_start_phase(struct deadlines *deadlines, enum conn_phase phase, double now_s);
/* Returns whether the connection has missed a deadline and must end. */
bool deadlines_are_missed(struct deadlines *deadlines, const struct config *config, int descriptor,
                          double now_s);
/* Returns whether the client of a TCP connection has closed it or shut down its sending side. */
bool deadlines_peer_has_left(int descriptor);
/* Returns whether a TCP socket has written bytes that are not acknowledged yet. */
bool deadlines_is_sending(int descriptor);
