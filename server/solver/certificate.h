/* Proof that a matrix holds the shortest distances of a graph, without solving it again.
 *
 * The row of a source vertex is correct exactly when three conditions hold: the entry of the source
 * is 0, no edge shortens an entry, and every finite entry is reached from the source along tight
 * edges. A search checks the third condition, so that a cycle of zero-weight edges cannot vouch for
 * itself. O(m) per row. Float kinds are compared with a relative tolerance, which certificate.c
 * explains. The caller's thread and the threads of the pool share the work. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/solve.h"
#include "proto/verification.h"
#include "server/solver/cpu/pool.h"

/* The rows to prove. All pointers are borrowed for the call. */
struct certificate_request {
    const struct graph *graph;
    const struct matrix *matrix;
    uint32_t decimals;    /* decimals of an f8 matrix: the weights of the graph are scaled integers,
                             and the distances are compared exactly */
    const uint32_t *rows; /* the row_count rows to prove; NULL = spread evenly over the matrix */
    uint32_t row_count;   /* number of rows to prove; all rows if the matrix has fewer */
    bool packed;          /* the matrix contains only the listed rows, one after the other */
    struct cpu_pool *pool; /* threads that share the work; NULL = only the calling thread */
    const struct observer *observer; /* may be NULL */
};

/* Proves the rows. STATUS_NOT_VERIFIED: the problem names the vertices of a wrong entry;
 * STATUS_CANCELLED by the observer; STATUS_NO_MEMORY. */
MUST_CHECK enum status certificate_check(const struct certificate_request *request,
                                         struct verification *ret_verification,
                                         struct problem *reterr);

/* Returns the name of a vertex for a message, truncated to at most `most` bytes, but never within a
 * UTF-8 character. most: at most CERTIFICATE_NAME_MAX. */
#define CERTIFICATE_NAME_MAX 63
struct certificate_name {
    char text[CERTIFICATE_NAME_MAX + 1];
};
struct certificate_name certificate_name(const struct graph *graph, uint32_t vertex, size_t most);
