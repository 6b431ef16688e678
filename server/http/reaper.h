/* The deadline that libmicrohttpd lacks: a connection which does not complete the headers of a
 * request in time is shut down, however busily it drips (slowloris).
 *
 * Places in a fixed table, one per connection, without a lock: a place is free, open, or for the
 * length of one shutdown() in the reaper's hand, which whoever closes the connection waits for, so
 * that the descriptor cannot be another connection's by then. */
#pragma once

#include "proto/status.h"

#include <stdint.h>

struct reaper;
struct reaper_place;

MUST_CHECK enum status reaper_create(uint32_t connection_limit, double header_timeout_s,
                                     struct reaper **ret_reaper);
void reaper_destroy(struct reaper *reaper);

/* A connection has come; any thread. NULL when every place is taken: it is not watched. */
struct reaper_place *reaper_open(struct reaper *reaper, int descriptor, double now_s);
/* Before its descriptor is closed. place may be NULL, here and below. */
void reaper_close(struct reaper_place *place);
/* Its headers are complete. */
void reaper_rest(struct reaper_place *place);
/* It has been answered and the next request's time runs. */
void reaper_watch(struct reaper_place *place, double now_s);

/* One thread. */
void reaper_run(struct reaper *reaper, double now_s);
