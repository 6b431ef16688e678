/* One graph as one file: header, edges, row offsets, vertex names, and a checksum of its id.
 * Written once, unnamed until complete (O_TMPFILE, fsync, linkat), never changed. */
#pragma once

#include "proto/adjacency.h"
#include "proto/graph.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* A graph's file before it has a name. Zeroed: not begun. */
struct graph_draft {
    bool begun;
    enum status failure; /* not begun for this: the graph has no edges to begin again with */
    struct draft_file file;
    uint64_t header_checksum;
    uint64_t owner_at;
    uint64_t bytes; /* of the whole file, but for holes */
};

/* Writes all but whose file it is, which may not be known yet. Blocks on the disk.
 * STATUS_DISK_FULL, STATUS_IO, STATUS_NO_MEMORY. folder: open directory. */
MUST_CHECK enum status graph_file_begin(int folder, const struct graph *graph,
                                        struct graph_draft *ret_draft);
/* Writes what is missing, which is all where it was not begun, if nothing failed before; after a
 * failure it is dropped. The caller publishes draft->file under the graph's id, and drops the
 * draft. A file of that name holds the same graph: it is replaced, which heals a damaged one. */
MUST_CHECK enum status graph_file_draft(int folder, const char *id, const struct graph *graph,
                                        struct graph_draft *draft);
/* Closes it; without a name it is gone. Accepts one that was not begun. Blocks on the disk. */
void graph_file_drop(struct graph_draft *draft);
/* STATUS_CORRUPT when a checksum or a bound does not hold, there is no such file or it is that of
 * another graph, STATUS_IO when
 * it cannot be read. */
MUST_CHECK enum status graph_file_read(int folder, const char *id, struct graph **ret_graph);
/* The same in two steps, of which the second may be another process's: a descriptor open for
 * reading, once it is known whose file it is, and the graph in the file behind it, which is left
 * open. */
MUST_CHECK enum status graph_file_open(int folder, const char *id, int *ret_descriptor);
MUST_CHECK enum status graph_file_read_open(int descriptor, struct graph **ret_graph);
/* Only the vertex names. */
MUST_CHECK enum status graph_file_read_names(int folder, const char *id,
                                             struct vertex_names **ret_names);
/* How many edges it has, without reading them. */
MUST_CHECK enum status graph_file_edge_count(int folder, const char *id, uint64_t *ret_count);
/* What adjacency_size says of the graph, without reading its edges. */
MUST_CHECK enum status graph_file_adjacency_size(int folder, const char *id, size_t *ret_bytes);
