/* One graph as one file: header with the graph's id, row offsets, targets, weights, vertex names.
 * Written once as a draft, renamed when it is complete. What is written is never changed, but more
 * may follow: changes of some weights, each with the id of the graph that it makes and of the one
 * that it is made to. Such a graph's file is a further link to this one, which is found whole as
 * long as one of them has a name. A change that was cut short is the end of the file. */
#pragma once

#include "proto/adjacency.h"
#include "proto/edge_changes.h"
#include "proto/graph.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* Writes the whole file, as a draft: to be published under the id, and finished by the
 * caller. A file of that name holds the same graph: it is replaced, which heals a damaged one.
 * Blocks on the disk. STATUS_DISK_FULL, STATUS_IO, STATUS_NO_MEMORY. folder: open directory. */
MUST_CHECK enum status graph_file_write(int folder, const char *id, const struct graph *graph,
                                        struct draft_file *ret_file, uint64_t *ret_bytes);
/* The same in a few blocks, for a graph that is its parent but for the weights of these edges:
 * their places and weights are added to the file of the parent. ret_bytes: as if it were written
 * whole. STATUS_NOT_READY where it is to be: edges is NULL, the parent's file is not there, has had
 * changes enough or is damaged at its end, or cannot be linked. */
MUST_CHECK enum status graph_file_append(int folder, const char *parent_id, const char *id,
                                         const struct graph *graph, const struct edge_change *edges,
                                         size_t edge_count, struct draft_file *ret_file,
                                         uint64_t *ret_bytes);
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
