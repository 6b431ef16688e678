/* One graph as one file: header with the graph's id, row offsets, targets, weights, vertex names.
 * Written once as a draft, renamed when it is complete, and never changed. */
#pragma once

#include "proto/adjacency.h"
#include "proto/graph.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* Writes the whole file, as a draft: to be published under the id, and finished by the
 * caller. A file of that name holds the same graph: it is replaced, which heals a damaged one.
 * Blocks on the disk. STATUS_DISK_FULL, STATUS_IO, STATUS_NO_MEMORY. folder: open directory. */
MUST_CHECK enum status graph_file_write(int folder, const char *id, const struct graph *graph,
                                        struct draft_file *ret_file, uint64_t *ret_bytes);
/* STATUS_CORRUPT when a checksum or a bound does not hold, there is no such file or it is that of
 * another graph, STATUS_IO when it cannot be read. */
MUST_CHECK enum status graph_file_read(int folder, const char *id, struct graph **ret_graph);
/* The same in two steps, of which the second may be another process's: a descriptor open for
 * reading, once it is known whose file it is, and the graph in the file behind it, which is left
 * open. */
MUST_CHECK enum status graph_file_open(int folder, const char *id, int *ret_descriptor);
MUST_CHECK enum status graph_file_read_open(int descriptor, const char *id,
                                            struct graph **ret_graph);
/* Only the vertex names. */
MUST_CHECK enum status graph_file_read_names(int folder, const char *id,
                                             struct vertex_names **ret_names);
/* How many edges it has, and its adjacency_size, without reading the edges. */
MUST_CHECK enum status graph_file_sizes(int folder, const char *id, uint64_t *ret_edge_count,
                                        size_t *ret_adjacency_bytes);
