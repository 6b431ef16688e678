/* Streaming readers: bytes in any split go in, one validated graph comes out.
 *
 * One implementation per format (reader_dimacs.c, reader_edges.c, ...), each a struct reader_class.
 * A reader belongs to one thread at a time and holds no more than the edges read so far plus one
 * line or token. After a failure it must only be destroyed. */
#pragma once

#include "proto/format.h"
#include "proto/read/graph_builder.h"

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

/* Notes of a reader about its file, beside the graph, for the input report to the client. */
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
/* Borrowed from the reader; complete after a finish that succeeded. */
const struct reader_notes *reader_notes(const struct reader *reader);

/* ---- Shared by the readers; nothing else uses the rest. ---- */

extern const struct reader_class reader_dimacs_class;
extern const struct reader_class reader_edges_class;
extern const struct reader_class reader_nthu_class;
extern const struct reader_class reader_graphml_class;
extern const struct reader_class reader_json_class;
extern const struct reader_class reader_jgf_class;
extern const struct reader_class reader_mtx_class;
extern const struct reader_class reader_metis_class;
extern const struct reader_class reader_npy_class;

/* Puts a failure of graph_builder_add_* into words, without a line; false when it did not fail. */
bool reader_add_failed(enum status status, const struct graph_options *options,
                       struct problem *reterr);

/* STATUS_TOO_LARGE when the options do not admit that many edges. */
MUST_CHECK enum status reader_admit_edges(const struct graph_options *options, uint64_t edge_count,
                                          struct problem *reterr);

/* STATUS_BAD_PARAMETER when the parameter n is not the count that the file announces. */
MUST_CHECK enum status reader_admit_count(const struct graph_options *options, uint64_t announced,
                                          struct problem *reterr);

/* STATUS_BAD_PARAMETER when the options name where the weights are, in a format that leaves no
 * choice.
 */
MUST_CHECK enum status reader_admit_weight_name(const struct graph_options *options,
                                                struct problem *reterr);

/* Adds an edge with its weight still in text, which stood at this column: integers exactly,
 * decimals correctly rounded; anything else is refused in words. */
MUST_CHECK enum status reader_add_edge(struct graph_builder *builder,
                                       const struct graph_options *options, const uint32_t ends[2],
                                       const char *weight, size_t size, uint64_t column,
                                       struct problem *reterr);

/* The same text as a double, exact for every integer that is taken. */
MUST_CHECK enum status reader_parse_weight(const char *weight, size_t size, uint64_t column,
                                           double *ret_weight, struct problem *reterr);

/* Finishes the builder of a format whose vertices are numbers: base, base + 1, and so on. */
MUST_CHECK enum status reader_finish_range(struct graph_builder *builder, uint32_t count,
                                           uint32_t base, bool directed, struct graph **ret_graph,
                                           struct problem *reterr);
