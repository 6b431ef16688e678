/* A graph as one file: a header with the graph's ID, row offsets, targets, weights, vertex names.
 * The file is written as a draft, renamed when complete, and never changed. Any thread; blocks on
 * the disk. */
#pragma once

#include "proto/adjacency.h"
#include "proto/graph.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* Writes the whole file as a draft, which the caller publishes under the ID and then finishes. An
 * existing file of that name has the same graph; replacing it repairs a damaged file. folder: an
 * open directory. STATUS_DISK_FULL, STATUS_IO, STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_file_write(int folder, const char *id, const struct graph *graph,
                                        struct draft_file *ret_file, uint64_t *ret_bytes);
/* Reads a graph. STATUS_CORRUPT if there is no file, if it belongs to another graph, or if a
 * checksum or a bound does not hold; STATUS_IO if the file cannot be read. */
MUST_CHECK enum status graph_file_read(int folder, const char *id, struct graph **ret_graph);
/* graph_file_read in two steps, so that another process can do the second: graph_file_open checks
 * which graph the file belongs to and returns a descriptor; graph_file_read_open reads the graph
 * and leaves the descriptor open. */
MUST_CHECK enum status graph_file_open(int folder, const char *id, int *ret_descriptor);
MUST_CHECK enum status graph_file_read_open(int descriptor, const char *id,
                                            struct graph **ret_graph);
/* Reads only the vertex names. */
MUST_CHECK enum status graph_file_read_names(int folder, const char *id,
                                             struct vertex_names **ret_names);
/* Returns the edge count and the adjacency_size of a graph without reading its edges. */
MUST_CHECK enum status graph_file_sizes(int folder, const char *id, uint64_t *ret_edge_count,
                                        size_t *ret_adjacency_bytes);
