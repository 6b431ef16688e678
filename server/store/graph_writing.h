/* A graph's file in the making: its edges first, while they still come perhaps, then the rest. One
 * thread at a time; blocks on the disk. */
#pragma once

#include "server/store/graph_file.h"

struct graph_writing;

/* edge_room: no more edges than these. STATUS_TOO_LARGE, STATUS_DISK_FULL, STATUS_IO,
 * STATUS_NO_MEMORY. folder: open directory, borrowed. */
MUST_CHECK enum status graph_writing_begin(int folder, uint64_t edge_room,
                                           enum weight_type weight_type,
                                           struct graph_writing **ret_writing);
/* The next edges of the graph, weights as of the type: a multiple of ROW_BLOCK_EDGES, but for the
 * last ones. STATUS_DISK_FULL, STATUS_IO: these are not
 * there, and nothing but reading the others makes sense any more. */
MUST_CHECK enum status graph_writing_add(struct graph_writing *writing, const uint32_t *targets,
                                         const void *weights, size_t edges);
/* A block of the edges that were added, by its number, all that it has; weights may be NULL.
 * STATUS_IO, STATUS_CORRUPT: it is not what was added. */
MUST_CHECK enum status graph_writing_read(const struct graph_writing *writing, uint64_t block,
                                          uint32_t *targets, void *weights);
/* The rest of a graph all of whose edges were added: all but whose file it is. Frees the writing,
 * whose file is in the draft, or gone after a failure. */
MUST_CHECK enum status graph_writing_end(struct graph_writing *writing, const struct graph *graph,
                                         struct graph_draft *ret_draft);
/* The file is gone. NULL is accepted. */
void graph_writing_drop(struct graph_writing *writing);
