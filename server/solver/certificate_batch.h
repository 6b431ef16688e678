/* The quick half of the certificate: many rows in one pass over the edges, for positive integers.
 *
 * With every weight above 0 a row is right exactly when its own entry is 0 and every other entry is
 * the least of (distance of u + weight) over the edges from u into it (Bellman's equation): a
 * finite entry then has a tight edge from a smaller one, and so on down to the source, which leaves
 * no cycle that could vouch for itself. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"

/* Rows that travel together: one cache line of int32 per vertex. */
#define CERTIFICATE_BATCH_ROWS 16

struct certificate_batch;

/* Whether graph and matrix are such that the equation decides. */
bool certificate_batch_applies(const struct graph *graph, const struct matrix *matrix);
/* Both are borrowed until destroy. STATUS_NO_MEMORY. */
MUST_CHECK enum status certificate_batch_create(const struct graph *graph,
                                                const struct matrix *matrix,
                                                struct certificate_batch **ret_batch);
void certificate_batch_destroy(struct certificate_batch *batch);

/* True when all of these rows are right: 1 to CERTIFICATE_BATCH_ROWS of them. */
bool certificate_batch_check(struct certificate_batch *batch, const uint32_t *sources,
                             uint32_t source_count);
