/* The statistics of a hierarchy, computed once from all of its rows and kept with its result: by
 * the HTTP thread of the request in its turns, and by other cores in libuv's pool, a turn at a
 * time, so that uploads get theirs.
 *
 * Created and destroyed on the HTTP thread. The pool may work on for one turn after that. */
#pragma once

#include "server/http/request/request.h"

struct statistics_sweep;

/* Refuses rows of a hierarchy that take longer than the configuration lets them (409). */
MUST_CHECK enum status statistics_sweep_check(const struct request *request, double rows,
                                              struct problem *reterr);
MUST_CHECK enum status statistics_sweep_create(const struct request *request,
                                               struct statistics_sweep **ret_sweep);
/* Ends it where it is not done. NULL is accepted. */
void statistics_sweep_destroy(struct statistics_sweep *sweep);
/* Goes on for about a millisecond; true: result_statistics has them. STATUS_CORRUPT,
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status statistics_sweep_step(struct statistics_sweep *sweep, bool *ret_done);
