/* Streaming readers turn the bytes of an upload, in pieces that may be cut anywhere, into one
 * validated graph. Each format has one implementation (dimacs.c, edges.c, ...), a struct
 * reader_class. A reader belongs to one thread at a time and stores no more than the edges read so
 * far plus one line or token. After a failure it can only be destroyed. */
#pragma once

#include "proto/format.h"
#include "proto/read/fields.h"
#include "proto/read/graph_builder.h"
#include "proto/read/lines.h"
#include "proto/read/records.h"
#include "proto/warning.h"

#include <stddef.h>

struct reader;

/* The functions of a format. They parse a stream of bytes, line by line, or record by record. */
struct reader_class {
    size_t size; /* size of the reader's own struct, which begins with struct reader */
    /* Initializes the members after struct reader, which are zero. init and cleanup may be NULL. */
    enum status (*init)(struct reader *reader);
    enum status (*feed)(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr);
    /* Parses one line. A format of lines sets it instead of feed; struct line_splitter calls it,
     * with the reader as context. */
    enum status (*parse_line)(void *reader, const char *line, size_t size, struct problem *reterr);
    /* Parses records. A binary format sets it instead of feed; struct record_splitter calls it. */
    enum status (*take_records)(void *reader, const char *records, uint64_t count,
                                struct problem *reterr);
    size_t header_size;  /* bytes of a binary format's header, or of its first part */
    bool says_direction; /* the format states whether edges are directed */
    bool has_weights;    /* each edge has one unnamed field for the weight */
    size_t line_limit;   /* limit on the length of a line in bytes; 0: READER_LINE_LIMIT */
    /* Builds the graph after the last line or record has been parsed. */
    enum status (*finish)(struct reader *reader, struct graph **ret_graph, struct problem *reterr);
    void (*cleanup)(struct reader *reader); /* also called after init failed */
    /* Returns an upper bound on the memory in bytes, now and in finish, without the builder's.
     * NULL: the format needs almost none. */
    uint64_t (*memory)(const struct reader *reader);
};

/* Facts about the file that are not in the graph, for the input report to the client. */
struct reader_notes {
    char variant[64];    /* variant of the format, such as a dialect; empty if there is only one */
    char weight[64];     /* column or attribute of the weights; empty: every edge has weight 1 */
    bool says_direction; /* the format or the file states whether edges are directed */
    struct warnings warnings;
};

/* Value of notes.weight if each edge has one unnamed field for the weight. */
#define READER_WEIGHT_VALUE "value"

/* Base of each format's own struct, as its first member. reader_create allocates the struct, and
 * reader_destroy frees it; a format frees its other memory in cleanup. */
struct reader {
    const struct reader_class *class_;
    enum format format;
    struct graph_options options;
    struct graph_builder builder;
    struct line_splitter splitter;  /* used by formats that consist of lines */
    struct record_splitter records; /* used by binary formats */
    struct reader_notes notes;      /* complete after reader_finish */
    bool is_announced;              /* whether reader_announce has accepted a header */
    uint32_t announced_vertices;    /* number of vertices that the header declares */
    uint64_t announced_edges;       /* number of edges that the header declares; 0: not declared */
    bool fed;                       /* whether any byte was fed */
};

/* Sets the option with the name of the parameter: weight, source_column, target_column, decimal or
 * no_edge. STATUS_BAD_PARAMETER for an invalid value. */
MUST_CHECK enum status reader_set_option(struct graph_options *options, const char *name,
                                         const char *value, struct problem *reterr);

/* Creates a reader. STATUS_UNSUPPORTED_MEDIA_TYPE when the format has no reader. */
MUST_CHECK enum status reader_create(enum format format, const struct graph_options *options,
                                     struct reader **ret_reader);
/* Parses the next bytes of the body. STATUS_BAD_PARAMETER for options that do not apply to the
 * format, STATUS_BAD_GRAPH with line and column, STATUS_TOO_LARGE with limit, actual and hint. Each
 * is returned as soon as the bytes show the problem. */
MUST_CHECK enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                                   struct problem *reterr);
/* Ends the body and builds the graph. STATUS_TRUNCATED when the body is shorter than it declares,
 * STATUS_EMPTY_BODY when nothing was fed. */
MUST_CHECK enum status reader_finish(struct reader *reader, struct graph **ret_graph,
                                     struct problem *reterr);
void reader_destroy(struct reader *reader);
/* Returns an upper bound on the bytes of memory for the input so far, now and in reader_finish. */
uint64_t reader_memory(const struct reader *reader);
/* Returns a lower bound on the bytes of memory for the declared numbers of vertices and edges. */
uint64_t reader_announced_memory(const struct reader *reader);
/* Returns whether the format consists of lines and no line has ended yet. */
bool reader_awaits_line(const struct reader *reader);

/* The character Ctrl-Z, with which old DOS programs pad the end of a text file. */
#define READER_DOS_END '\x1A'

/* ---- Only readers use the following. ---- */

extern const struct reader_class reader_dimacs_class;
extern const struct reader_class reader_edges_class;
extern const struct reader_class reader_matrix_class;
extern const struct reader_class reader_nthu_class;
extern const struct reader_class reader_graphml_class;
extern const struct reader_class reader_json_class;
extern const struct reader_class reader_mtx_class;
extern const struct reader_class reader_metis_class;
extern const struct reader_class reader_npy_class;

/* Checks the number of vertices that the file declares. STATUS_BAD_PARAMETER if n= differs. */
MUST_CHECK enum status reader_admit_count(const struct reader *reader, uint64_t announced,
                                          struct problem *reterr);

/* Checks the numbers of vertices and edges that a header declares. STATUS_BAD_PARAMETER if n=
 * differs; STATUS_TOO_LARGE or STATUS_DISK_FULL if the options do not allow these numbers. */
MUST_CHECK enum status reader_announce(struct reader *reader, uint64_t vertex_count,
                                       uint64_t edge_count, struct problem *reterr);

struct name_table;
/* Returns the row of the vertex with this name; a new name gets a new row. STATUS_BAD_GRAPH for a
 * name that is empty, too long, or not UTF-8. */
MUST_CHECK enum status reader_name_vertex(struct name_table *names, struct field name,
                                          uint32_t *ret_row, struct problem *reterr);

/* Returns whether the text is a value that is not a finite number, such as inf, nan or null, even
 * with a sign. */
bool reader_is_not_finite(const char *text, size_t size);

/* Replaces a decimal comma by a point, if the options declare decimal commas. point: a buffer of
 * COLUMN_VALUE_SIZE bytes for the result. */
struct field reader_point(const struct reader *reader, struct field field, char *point);

/* Returns whether the field is a number, with a decimal comma if the options declare it. */
bool reader_is_number(const struct reader *reader, struct field field);

/* Adds an edge, unless its weight is the value of no_edge=. STATUS_BAD_GRAPH for the largest value
 * of an integer type, which often marks a missing edge; STATUS_WEIGHT_RANGE for an integer that a
 * double cannot represent exactly. */
MUST_CHECK enum status reader_add_real(struct reader *reader, const uint32_t ends[2], double value,
                                       struct problem *reterr);
MUST_CHECK enum status reader_add_integer(struct reader *reader, const uint32_t ends[2],
                                          int64_t value, struct problem *reterr);
/* Adds an edge whose weight is text: integers are read exactly, decimals correctly rounded.
 * STATUS_BAD_GRAPH or STATUS_WEIGHT_RANGE, with detail and hint, for any other text. */
MUST_CHECK enum status reader_add_edge(struct reader *reader, const uint32_t ends[2],
                                       struct field weight, struct problem *reterr);

/* Builds the graph of a format that names vertices by the numbers base, base + 1, and so on.
 * row_of, if not NULL, maps each row to its final row. */
MUST_CHECK enum status reader_finish_range(struct reader *reader, uint32_t count, uint32_t base,
                                           const uint32_t *row_of, bool directed,
                                           struct graph **ret_graph, struct problem *reterr);
/* Builds the graph of a format whose vertices have names. The names are moved on success. row_of:
 * as in reader_finish_range. numeric: whether integer names are printed as JSON numbers. */
MUST_CHECK enum status reader_finish_names(struct reader *reader, struct name_table **take_names,
                                           const uint32_t *row_of, bool numeric, bool directed,
                                           struct graph **ret_graph, struct problem *reterr);
