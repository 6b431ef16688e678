/* A file with the vertex order that was found for a graph, named by the digest of the graph's
 * edges. The folder is a cache for graphs with the same edges and other weights, limited by a
 * budget; the least recently used files are removed first. Nothing is synced, and nothing read from
 * a file is trusted.
 *
 * A file is opened once for reading and writing. Two concurrent writers leave a file with a wrong
 * checksum, which counts as empty and is written again. Any thread. */
#pragma once

#include "proto/graph.h"

#include <sys/types.h>

/* An open order file: a plain value, owned by the caller that opened it; zeroed = no file. */
struct order_file {
    int descriptor; /* above 0 */
    int folder;     /* borrowed; 0 in a worker process, which gets only the descriptor */
    uint64_t budget_bytes;
    off_t size; /* size when opened */
    char name[33];
};

/* Opens or creates the file of the graph's edges; *ret_file is unchanged on failure. seed: from
 * order_file_seed, so that tenants do not share files; otherwise a fast plan would reveal that
 * another tenant has the same edges. */
void order_file_open(int folder, uint64_t budget_bytes, const struct graph *graph, uint64_t seed,
                     struct order_file *ret_file);
/* Returns the seed for the graphs of a tenant. secret: store_secret. */
uint64_t order_file_seed(const char *secret, const char *tenant);
/* Closes the file. Removes an empty file; trims the folder if the file has grown. */
void order_file_finish(struct order_file *file);
/* Returns the words, freed by the caller; NULL if there are none, too many, or damaged words. */
uint32_t *order_file_read(int descriptor, size_t limit, size_t *ret_count);
/* Writes the words. A failure is ignored: the order is computed again next time. */
void order_file_write(int descriptor, const uint32_t *words, size_t count);
/* Removes files beyond the budget, and files whose name is not a digest. */
void order_file_trim(int folder, uint64_t budget_bytes);
