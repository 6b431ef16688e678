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

/* Rows that are to be proven. Everything is borrowed. */
struct certificate_request {
    const struct graph *graph;
    const struct matrix *matrix;
    uint32_t decimals;               /* of an f8 matrix: the graph has its distances times
                                        10^decimals, integers, and every digit counts */
    const uint32_t *rows;            /* row_count of them; NULL: spread evenly over the matrix */
    uint32_t row_count;              /* more than there are: all */
    bool packed;                     /* the matrix has the listed rows alone, one after the other */
    struct cpu_pool *pool;           /* its threads share the work; NULL: the caller alone */
    const struct observer *observer; /* may be NULL */
};

/* STATUS_NOT_VERIFIED with a wrong pair, by vertex names, in the problem; STATUS_CANCELLED by the
 * observer; STATUS_NO_MEMORY. */
MUST_CHECK enum status certificate_check(const struct certificate_request *request,
                                         struct verification *ret_verification,
                                         struct problem *reterr);
