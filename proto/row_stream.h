/* Where the rows of a large graph go, block by block, while its edges still come, when they are not
 * to stay in memory: implemented by whoever takes them, and embedded first in its own struct. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

/* All but the last have as many. */
#define ROW_BLOCK_EDGES 16384u

/* Of the next block, when so many edges are left. */
static inline size_t row_block_edges(uint64_t left)
{
    return left < ROW_BLOCK_EDGES ? (size_t)left : ROW_BLOCK_EDGES;
}

/* Edges in the order of the graph. */
struct row_block {
    uint32_t target[ROW_BLOCK_EDGES];
    int32_t weight[ROW_BLOCK_EDGES];
};

struct row_stream {
    const struct row_stream_class *class_;
};

struct row_stream_class {
    /* An empty block; the one given before is full, and not the caller's any more. Never waits.
     * NULL without memory, or when that was all that was announced: nothing has changed. */
    struct row_block *(*next)(struct row_stream *stream);
    /* The block given last has so many edges, which are the last. Waits until all is taken. After a
     * failure, whatever it is, all blocks can be read. */
    enum status (*end)(struct row_stream *stream, size_t edges);
    /* No block follows, and all are read: the graph comes about in another way. Never waits. */
    void (*stop)(struct row_stream *stream);
    /* After end or stop. The targets of a block by its number; with its weights, unless those are
     * NULL, once: then it may be gone. Waits. STATUS_IO, STATUS_CORRUPT. */
    enum status (*read)(struct row_stream *stream, uint64_t number, size_t edges, uint32_t *targets,
                        int32_t *weights);
};
