/* Streaming readers: bytes in any split go in, one validated graph comes out.
 *
 * One implementation per format (reader_dimacs.c, reader_edges.c, ...), each a struct reader_class.
 * A reader belongs to one thread at a time and holds no more than the edges read so far plus one
 * line or token. After a failure it must only be destroyed. */
#pragma once

#include "proto/format.h"
#include "proto/graph_builder.h"

#include <stddef.h>

/* The longest line or JSON string accepted, in bytes. */
#define READER_LINE_LIMIT 65536

struct reader;

struct reader_class {
    enum format format;
    enum status (*create)(const struct graph_options *options, struct reader **ret_reader);
    enum status (*feed)(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr);
    enum status (*finish)(struct reader *reader, struct graph **ret_graph, struct problem *reterr);
    void (*destroy)(struct reader *reader);
};

/* What a reader understood of its file beside the graph, for the report to whoever sent it. */
struct reader_notes {
    char variant[64];    /* of the format, in its own words; empty where there is one alone */
    char weight[64];     /* column or attribute of the weights; empty: every edge counts 1 */
    bool says_direction; /* the format or the file says whether edges lead one way */
};

/* In notes.weight: the format has one place for weights, and it has no name. */
#define READER_WEIGHT_VALUE "value"

/* Embedded first in each reader's own struct. */
struct reader {
    const struct reader_class *class_;
    struct reader_notes notes; /* complete once finished */
    bool fed;                  /* some byte came */
    /* NULL, or the builder of a reader that knows its vertices before its edges: borrowed. */
    struct graph_builder *numbered;
};

/* STATUS_UNSUPPORTED_MEDIA_TYPE when the format has no reader. */
MUST_CHECK enum status reader_create(enum format format, const struct graph_options *options,
                                     struct reader **ret_reader);
/* The next bytes of the body. STATUS_BAD_GRAPH with line and column, STATUS_TOO_LARGE with limit,
 * actual and hint, as early as the bytes allow. */
MUST_CHECK enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                                   struct problem *reterr);
/* The end of the body. STATUS_TRUNCATED when a format that announces its length is short,
 * STATUS_EMPTY_BODY when nothing was fed. */
MUST_CHECK enum status reader_finish(struct reader *reader, struct graph **ret_graph,
                                     struct problem *reterr);
void reader_destroy(struct reader *reader);
/* Of the graph that comes: rows that may go to a stream (graph_builder.h), and to have them do so,
 * and whether all did, after a finish that succeeded. */
struct growing_extent reader_growing(const struct reader *reader);
MUST_CHECK bool reader_stream(struct reader *reader, struct row_stream *stream);
bool reader_was_streamed(const struct reader *reader);
/* Borrowed from the reader; complete after a finish that succeeded. */
const struct reader_notes *reader_notes(const struct reader *reader);
