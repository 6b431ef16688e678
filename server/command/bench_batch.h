/* Many small graphs that apsp bench solves at once: random ones, each another.
 *
 * Owned by whoever makes it, and solved on the thread of the solver. */
#pragma once

#include "proto/observer.h"
#include "server/solver/solver.h"

#include <stddef.h>

struct bench_batch_shape {
    uint32_t graph_count;
    uint32_t vertex_count; /* of each; at most the solver's batch_vertices */
    enum kind kind;
    bool directed;
};

struct bench_batch;

/* Host bytes of its matrices. */
size_t bench_batch_bytes(const struct bench_batch_shape *shape);
MUST_CHECK enum status bench_batch_create(const struct bench_batch_shape *shape,
                                          struct bench_batch **ret_batch, struct problem *reterr);
void bench_batch_destroy(struct bench_batch *batch);
/* Mean over the graphs. */
uint64_t bench_batch_edges(const struct bench_batch *batch);
/* The times of all graphs added up; on a processor, where each graph has a thread to itself, a
 * thread's part of that. STATUS_CANCELLED by the observer, which may be NULL. */
MUST_CHECK enum status bench_batch_solve(struct bench_batch *batch, struct solver *solver,
                                         const struct observer *observer,
                                         struct timings *ret_timings);
