/* A large graph whose edges still come, on its way to its file and its digest: each has a thread of
 * its own, so that next to nothing is left to do when the last edge is there. The edges are not
 * kept in memory, but for those that a thread has yet to take.
 *
 * One graph at a time; the others are written and named when they are whole. A stream that cannot
 * go on, as its disk is full or its edges are out of order after all, keeps what it has until it is
 * dropped: it is read again from there. Owned by whoever has the upload; one thread at a time. */
#pragma once

#include "proto/graph.h"
#include "proto/row_stream.h"
#include "server/store/graph_file.h"

struct graph_stream;

/* Of its file for each edge: targets and weights. */
#define GRAPH_STREAM_BYTES_PER_EDGE (sizeof(uint32_t) + sizeof(int32_t))

/* Of a graph with int32 weights and at most so many edges. NULL while another has the threads, or
 * without memory. folder: open directory for the file; another descriptor of it is kept. */
struct graph_stream *graph_stream_begin(int folder, uint64_t edge_limit);
/* What the file of the graph that streams now will yet take from what is free on its disk; 0 when
 * none does. Any thread. */
uint64_t graph_stream_bytes_to_come(void);
/* Where its edges go: borrowed. */
struct row_stream *graph_stream_rows(struct graph_stream *stream);
/* The file of the graph, all of whose edges went through here, as far as graph_file_begin makes it.
 * Blocks on the disk. STATUS_DISK_FULL, STATUS_IO, STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_stream_take_draft(struct graph_stream *stream,
                                               const struct graph *graph,
                                               struct graph_draft *ret_draft);
/* Never waits: what there is to free is freed when the threads are done, or by another one. NULL is
 * accepted. */
void graph_stream_drop(struct graph_stream *stream);
