/* Computes the statistics of a hierarchy once, from all of its rows, and stores them with the
 * result. The request's HTTP thread computes some rows, about a millisecond at a time; threads of
 * libuv's pool compute the others in short work items, so that uploads can use the pool too.
 *
 * A sweep is created and destroyed on the HTTP thread; pool threads may still finish their current
 * work items after its destruction. */
#pragma once

#include "server/http/request/request.h"

struct statistics_sweep;

/* Refuses with 409 if computing this number of rows would take longer than configured. */
MUST_CHECK enum status statistics_sweep_check(const struct request *request, double rows,
                                              struct problem *reterr);
MUST_CHECK enum status statistics_sweep_create(const struct request *request,
                                               struct statistics_sweep **ret_sweep);
/* Stops an unfinished sweep. NULL is accepted. */
void statistics_sweep_destroy(struct statistics_sweep *sweep);
/* Computes for about a millisecond. Sets *ret_done once result_statistics returns the statistics.
 * Fails with STATUS_CORRUPT or STATUS_NO_MEMORY. */
MUST_CHECK enum status statistics_sweep_step(struct statistics_sweep *sweep, bool *ret_done);
