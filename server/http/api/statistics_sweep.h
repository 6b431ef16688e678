/* Computes the statistics of a hierarchy from all of its rows, once, and stores them with its
 * result. The request's HTTP thread computes in its turns, and libuv's pool on other cores, one
 * turn at a time so that uploads get the pool too.
 *
 * Created and destroyed on the HTTP thread; a pool thread may run for one more turn after that. */
#pragma once

#include "server/http/request/request.h"

struct statistics_sweep;

/* Refuses (409) to compute rows of a hierarchy that would take longer than configured. */
MUST_CHECK enum status statistics_sweep_check(const struct request *request, double rows,
                                              struct problem *reterr);
MUST_CHECK enum status statistics_sweep_create(const struct request *request,
                                               struct statistics_sweep **ret_sweep);
/* Stops an unfinished sweep. NULL is accepted. */
void statistics_sweep_destroy(struct statistics_sweep *sweep);
/* Computes for about a millisecond. *ret_done: result_statistics returns the statistics.
 * STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status statistics_sweep_step(struct statistics_sweep *sweep, bool *ret_done);
