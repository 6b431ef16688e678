/* The order that was found for a graph, kept in a file under the digest of the graph's pattern: a
 * cache for graphs of the same pattern and other weights, bounded by a budget; the files used
 * longest ago go first. Nothing is synced, and nothing that is read here is trusted.
 *
 * One file is opened to be read and written. Two writers at a time make a file whose checksum is
 * wrong, which counts as none and is written again. Any thread. */
#pragma once

#include "proto/graph.h"

#include <sys/types.h>

/* A plain value of who opened it; zeroed there is none. */
struct order_file {
    int descriptor; /* above 0 */
    int folder;     /* borrowed; 0 in a worker process, which has no other file */
    uint64_t budget_bytes;
    off_t size; /* as it was found */
    char name[33];
};

/* Opens or creates it; a failure leaves none. seed: whose graph it is, so that no tenant learns
 * from a plan what another one has. */
void order_file_open(int folder, uint64_t budget_bytes, const struct graph *graph, uint64_t seed,
                     struct order_file *ret_file);
/* secret: that of the store. */
uint64_t order_file_seed(const char *secret, const char *tenant);
/* Closes it. Where it is empty it is removed, and where it has grown what is beyond the budget. */
void order_file_finish(struct order_file *file);
/* Returns NULL where there are no words, more than limit, or damaged ones; else the caller frees
 * them. */
uint32_t *order_file_read(int descriptor, size_t limit, size_t *ret_count);
/* A plan that cannot be written is made again the next time. */
void order_file_write(int descriptor, const uint32_t *words, size_t count);
/* Removes the files beyond the budget, and what is no plan by its name. */
void order_file_trim(int folder, uint64_t budget_bytes);
