/* Proof that a matrix holds the shortest distances of a graph, without solving it again.
 *
 * For a source row: its own entry is 0, no edge can shorten an entry, and every finite entry is
 * reached from the source along tight edges (a search, so that a cycle of zero-weight edges cannot
 * vouch for itself). These three hold exactly when the row is right. O(m) per row. Float kinds
 * are compared with a relative tolerance, explained in certificate.c. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/observer.h"
#include "proto/verification.h"

/* Checks row_count rows spread evenly over the matrix (row_count >= n: all).
 * STATUS_NOT_VERIFIED with the first wrong pair, by vertex names, in the problem;
 * STATUS_CANCELLED by the observer, which may be NULL. */
MUST_CHECK enum status certificate_check(const struct graph *graph, const struct matrix *matrix,
                                         uint32_t row_count, const struct observer *observer,
                                         struct verification *ret_verification,
                                         struct problem *reterr);
/* The same for these rows, row_count of them. */
MUST_CHECK enum status certificate_check_rows(const struct graph *graph,
                                              const struct matrix *matrix, const uint32_t *rows,
                                              uint32_t row_count, const struct observer *observer,
                                              struct verification *ret_verification,
                                              struct problem *reterr);
/* STATUS_NOT_VERIFIED, and the problem says in words what the violation is. */
enum status certificate_refuse(const struct graph *graph, const struct violation *violation,
                               struct problem *reterr);
