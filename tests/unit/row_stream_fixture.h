/* A row_stream that keeps its blocks, and fails where a test wants it to. */
#pragma once

#include "proto/row_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE_BLOCKS 64

struct row_stream_fixture {
    struct row_stream rows;
    struct row_block *block[FIXTURE_BLOCKS];
    size_t given;
    size_t last_edges; /* of the last block, once it has ended */
    bool stopped;
    size_t block_limit;      /* 0: FIXTURE_BLOCKS */
    enum status end_status;  /* 0: STATUS_OK */
    enum status read_status; /* 0: STATUS_OK */
};

static inline struct row_block *fixture_next(struct row_stream *rows)
{
    struct row_stream_fixture *stream = (struct row_stream_fixture *)rows;
    const size_t limit = stream->block_limit > 0 ? stream->block_limit : FIXTURE_BLOCKS;

    if (stream->given == limit)
        return NULL;
    stream->block[stream->given] = malloc(sizeof(struct row_block));
    if (stream->block[stream->given] == NULL)
        abort();
    return stream->block[stream->given++];
}

static inline enum status fixture_end(struct row_stream *rows, size_t edges)
{
    struct row_stream_fixture *stream = (struct row_stream_fixture *)rows;

    stream->last_edges = edges;
    return stream->end_status;
}

static inline void fixture_stop(struct row_stream *rows)
{
    ((struct row_stream_fixture *)rows)->stopped = true;
}

static inline enum status fixture_read(struct row_stream *rows, uint64_t number, size_t edges,
                                       uint32_t *targets, int32_t *weights)
{
    struct row_stream_fixture *stream = (struct row_stream_fixture *)rows;

    if (number >= stream->given || edges > ROW_BLOCK_EDGES ||
        (stream->last_edges == 0 && !stream->stopped))
        abort();
    memcpy(targets, stream->block[number]->target, edges * sizeof *targets);
    if (weights != NULL)
        memcpy(weights, stream->block[number]->weight, edges * sizeof *weights);
    return stream->read_status;
}

static inline void row_stream_fixture_init(struct row_stream_fixture *stream)
{
    static const struct row_stream_class fixture_class = {fixture_next, fixture_end, fixture_stop,
                                                          fixture_read};

    *stream = (struct row_stream_fixture){.rows = {&fixture_class}};
}

static inline void row_stream_fixture_finish(struct row_stream_fixture *stream)
{
    for (size_t i = 0; i < stream->given; i++)
        free(stream->block[i]);
}
