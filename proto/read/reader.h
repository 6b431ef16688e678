/* Streaming readers: bytes in any split go in, one validated graph comes out.
 *
 * One implementation per format (dimacs.c, edges.c, ...), each a struct reader_class.
 * A reader belongs to one thread at a time and holds no more than the edges read so far plus one
 * line or token. After a failure it must only be destroyed. */
#pragma once

#include "proto/format.h"
#include "proto/read/fields.h"
#include "proto/read/graph_builder.h"
#include "proto/read/lines.h"
#include "proto/read/records.h"
#include "proto/warning.h"

#include <stddef.h>

struct reader;

/* A format: how its bytes are taken, as they come, line by line or record by record. */
struct reader_class {
    size_t size; /* of the struct that begins with struct reader */
    /* Prepares the struct, all zero behind its struct reader. This and cleanup may be NULL. */
    enum status (*init)(struct reader *reader);
    enum status (*feed)(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr);
    /* Instead of feed: the functions of struct line_splitter, whose context is the reader. */
    enum status (*parse_line)(void *reader, const char *line, size_t size, struct problem *reterr);
    /* Or the function of struct record_splitter. */
    enum status (*take_records)(void *reader, const char *records, uint64_t count,
                                struct problem *reterr);
    bool says_direction; /* the format says whether edges lead one way */
    bool has_weights;    /* at a place of its own that has no name */
    size_t line_limit;   /* of these lines, in bytes; 0: READER_LINE_LIMIT */
    /* After the last byte; the last line or record was taken. */
    enum status (*finish)(struct reader *reader, struct graph **ret_graph, struct problem *reterr);
    void (*cleanup)(struct reader *reader); /* of a half-prepared struct, too */
    /* Bytes that it holds, or needs at its end, beside its builder. NULL: next to none. */
    uint64_t (*memory)(const struct reader *reader);
};

/* Notes of a reader about its file, beside the graph, for the input report to the client. */
struct reader_notes {
    char variant[64];    /* of the format, in its own words; empty where there is one alone */
    char weight[64];     /* column or attribute of the weights; empty: every edge counts 1 */
    bool says_direction; /* the format or the file says whether edges lead one way */
    struct warnings warnings;
};

/* In notes.weight: the format has one place for weights, and it has no name. */
#define READER_WEIGHT_VALUE "value"

/* Embedded first in each reader's own struct. reader_create allocates it and makes the builder, and
 * reader_destroy frees both; a format owns only what its init or its parsing allocated. */
struct reader {
    const struct reader_class *class_;
    enum format format;
    struct graph_options options;
    struct graph_builder *builder;
    struct line_splitter splitter;  /* of a format of lines */
    struct record_splitter records; /* of a binary format */
    struct reader_notes notes;      /* complete once finished */
    uint64_t announced_edges;       /* by the header; 0: none announces them */
    bool fed;                       /* some byte came */
};

/* Sets weight, source_column, target_column, decimal or no_edge, by the name of the parameter.
 * STATUS_BAD_PARAMETER for a value that it cannot have. */
MUST_CHECK enum status reader_set_option(struct graph_options *options, const char *name,
                                         const char *value, struct problem *reterr);

/* STATUS_UNSUPPORTED_MEDIA_TYPE when the format has no reader. */
MUST_CHECK enum status reader_create(enum format format, const struct graph_options *options,
                                     struct reader **ret_reader);
/* The next bytes of the body. STATUS_BAD_PARAMETER for options without a meaning in the format,
 * STATUS_BAD_GRAPH with line and column, STATUS_TOO_LARGE with limit,
 * actual and hint, as early as the bytes allow. */
MUST_CHECK enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                                   struct problem *reterr);
/* The end of the body. STATUS_TRUNCATED when a format that announces its length is short,
 * STATUS_EMPTY_BODY when nothing was fed. */
MUST_CHECK enum status reader_finish(struct reader *reader, struct graph **ret_graph,
                                     struct problem *reterr);
void reader_destroy(struct reader *reader);
/* Bytes of memory that what was read so far takes at most, now or while it becomes a graph. */
uint64_t reader_memory(const struct reader *reader);
/* The least that the graph will take if it has the edges and vertices that its header announces. */
uint64_t reader_announced_memory(const struct reader *reader);
/* Whether the format has lines, and none of those fed has ended yet. */
bool reader_awaits_line(const struct reader *reader);
/* Borrowed from the reader; complete after a finish that succeeded. */
const struct reader_notes *reader_notes(const struct reader *reader);

/* Padding behind the text of old DOS programs. */
#define READER_DOS_END '\x1A'

/* ---- Shared by the readers; nothing else uses the rest. ---- */

extern const struct reader_class reader_dimacs_class;
extern const struct reader_class reader_edges_class;
extern const struct reader_class reader_matrix_class;
extern const struct reader_class reader_nthu_class;
extern const struct reader_class reader_graphml_class;
extern const struct reader_class reader_json_class;
extern const struct reader_class reader_mtx_class;
extern const struct reader_class reader_metis_class;
extern const struct reader_class reader_npy_class;

/* STATUS_BAD_PARAMETER when the parameter n is not the count that the file announces. */
MUST_CHECK enum status reader_admit_count(const struct reader *reader, uint64_t announced,
                                          struct problem *reterr);

/* A header announces vertices and edges, and weights without a name: refused as above, and with
 * STATUS_TOO_LARGE or STATUS_DISK_FULL where the options do not admit as many. */
MUST_CHECK enum status reader_announce(struct reader *reader, uint64_t vertex_count,
                                       uint64_t edge_count, struct problem *reterr);

struct name_table;
/* The row of the vertex of this name, which a new one gets. STATUS_BAD_GRAPH for a name that is
 * empty, long, or not UTF-8. */
MUST_CHECK enum status reader_name_vertex(struct name_table *names, const char *name, size_t size,
                                          uint64_t column, uint32_t *ret_row,
                                          struct problem *reterr);

/* Whether this stands for no number, such as inf, nan or null; a sign may stand in front. */
bool reader_is_not_finite(const char *text, size_t size);

/* The number with a point for its decimal comma, where the options say that it has one. point has
 * room for COLUMN_VALUE_SIZE bytes. */
struct field reader_point(const struct reader *reader, struct field field, char *point);

/* Adds an edge with this weight, unless no_edge= gives the value. STATUS_BAD_GRAPH for the largest
 * value of an integer type, which often stands for no edge; STATUS_WEIGHT_RANGE for an integer that
 * is not exact as a double. */
MUST_CHECK enum status reader_add_real(struct reader *reader, const uint32_t ends[2], double value,
                                       struct problem *reterr);
MUST_CHECK enum status reader_add_integer(struct reader *reader, const uint32_t ends[2],
                                          int64_t value, struct problem *reterr);
/* The same with its weight in text: integers exactly, decimals correctly rounded; anything else is
 * refused in words. */
MUST_CHECK enum status reader_add_edge(struct reader *reader, const uint32_t ends[2],
                                       struct field weight, struct problem *reterr);

/* The graph of a format whose vertices are numbers: base, base + 1, and so on. row_of as below. */
MUST_CHECK enum status reader_finish_range(struct reader *reader, uint32_t count, uint32_t base,
                                           const uint32_t *row_of, bool directed,
                                           struct graph **ret_graph, struct problem *reterr);
/* The graph of a format whose vertices have names, moved on success: the name of each row and its
 * edges go to row_of[row], or stay where row_of is NULL. numeric: integers are answered as numbers.
 */
MUST_CHECK enum status reader_finish_names(struct reader *reader, struct name_table **take_names,
                                           const uint32_t *row_of, bool numeric, bool directed,
                                           struct graph **ret_graph, struct problem *reterr);
