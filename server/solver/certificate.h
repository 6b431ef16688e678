/* Proof that a matrix holds the shortest distances of a graph, without solving it again.
 *
 * For a source row: its own entry is 0, no edge can shorten an entry, and every finite entry is
 * reached from the source along tight edges (a search, so that a cycle of zero-weight edges cannot
 * vouch for itself). These three hold exactly when the row is right. O(m) per row. Float kinds
 * are compared with a relative tolerance, explained in certificate.c. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/solve.h"
#include "proto/verification.h"
#include "server/solver/cpu/pool.h"

/* Checks row_count rows spread evenly over the matrix (row_count >= n: all).
 * STATUS_NOT_VERIFIED with the first wrong pair, by vertex names, in the problem;
 * STATUS_CANCELLED by the observer, which may be NULL. */
MUST_CHECK enum status certificate_check(const struct graph *graph, const struct matrix *matrix,
                                         uint32_t row_count, const struct observer *observer,
                                         struct verification *ret_verification,
                                         struct problem *reterr);
/* The same for these rows, row_count of them; packed: the matrix has these alone, one behind the
 * other. The threads of the pool share each of a few; it may be NULL. */
MUST_CHECK enum status
certificate_check_rows(const struct graph *graph, const struct matrix *matrix, const uint32_t *rows,
                       uint32_t row_count, bool packed, struct cpu_pool *pool,
                       const struct observer *observer, struct verification *ret_verification,
                       struct problem *reterr);
/* A device has proven the first rows of those to check, and left one open: the rows from there on,
 * row_limit of them at most. The verification then counts what device and host have proven. */
MUST_CHECK enum status certificate_resume(const struct graph *graph, const struct matrix *matrix,
                                          uint32_t row_limit, const struct observer *observer,
                                          struct verification *verification,
                                          struct problem *reterr);
