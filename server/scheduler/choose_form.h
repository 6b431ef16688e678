/* The choice of `result=auto` between a matrix and a hierarchy, and the check that either fits. */
#pragma once

#include "proto/job_document.h"
#include "server/scheduler/tenants.h"

struct scheduler;

/* The form of a result, which may be asked for: a matrix of what the devices and the disk hold,
 * else a hierarchy. graph_bytes: to be written beside it. STATUS_TOO_LARGE for more vertices than
 * are held, or than the quota allows; STATUS_DISK_FULL, with limit and actual, when result and
 * graph do not fit beside all that is reserved; STATUS_BAD_PARAMETER for a hierarchy of u2. */
MUST_CHECK enum status choose_result_form(const struct scheduler *scheduler,
                                          const struct quota *quota, const struct graph_row *row,
                                          enum kind kind, uint64_t graph_bytes,
                                          struct result_summary *result, struct problem *reterr);
