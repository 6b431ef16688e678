/* The deadlines that libmicrohttpd lacks: it knows only the time without any byte moving, which a
 * client that drips sets back with each byte. A connection is shut down
 *   - that does not complete the headers of a request in time (slowloris),
 *   - that sends a body too slowly, while nothing of it waits here to be read,
 *   - that takes an answer too slowly, while something of it waits in the kernel to be sent.
 * Too slowly: less than the floor over a stretch of the time that it has, or nothing for that long.
 * What moved is what the kernel has counted, so nothing is counted here: on Unix sockets, where it
 * does not count, only the first holds. Where it has begun its first request, and TLS does not
 * forbid it, such a client is told so.
 *
 * Places in a fixed table, one per connection, without a lock: a place is free, open, or for the
 * length of one shutdown() in the reaper's hand, which whoever closes the connection waits for, so
 * that the descriptor cannot be another connection's by then. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reaper;
struct reaper_place;

#define REAPER_FAREWELL_SIZE 1024

struct reaper_rules {
    uint32_t connection_limit;
    double header_timeout_s; /* also that over which the rate of a body is judged */
    uint64_t rate_floor;     /* bytes a second; 0 = any */
    double stall_timeout_s;  /* over which that of an answer is */
    /* Prints what a late client is told; returns its size. May be NULL. */
    size_t (*farewell)(void *context, char bytes[REAPER_FAREWELL_SIZE]);
    void *context;
};

MUST_CHECK enum status reaper_create(const struct reaper_rules *rules, struct reaper **ret_reaper);
void reaper_destroy(struct reaper *reaper);

/* A connection has come; any thread. Its time runs from when the kernel had it, but not from much
 * earlier. NULL when every place is taken: it is not watched. */
struct reaper_place *reaper_open(struct reaper *reaper, int descriptor, bool is_encrypted,
                                 double now_s);
/* Before its descriptor is closed. place may be NULL, here and below. */
void reaper_close(struct reaper_place *place);
/* Its headers are complete: a request is under way. */
void reaper_rest(struct reaper_place *place);
/* And a body follows, until the next reaper_rest or reaper_watch. */
void reaper_expect_body(struct reaper_place *place);
/* It has been answered and the next request's time runs. */
void reaper_watch(struct reaper_place *place, double now_s);

/* How many connections have a request under way. What was written before it is called is seen by
 * whoever ends a request that is counted. */
uint32_t reaper_count_resting(struct reaper *reaper);

/* One thread, each quarter of a second (HTTP_REAP_PAUSE_MS): so late a client may be ended. */
void reaper_run(struct reaper *reaper, double now_s);
/* Makes room: shuts down, of some connections that wait for their next request for a second or
 * more, the one that has waited longest. False when none does. Any thread. */
bool reaper_shed(struct reaper *reaper, double now_s);
