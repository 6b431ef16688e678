/* Collects edges in the order of the file and builds a struct graph from them. A builder belongs to
 * one reader and its thread. It uses 16 bytes per edge, and 20 while it builds the rows. */
#pragma once

#include "proto/graph.h"
#include "proto/read/charset.h"
#include "proto/read/edge_buffer.h"

/* The parameter no_edge=: not given, `none`, or a weight that marks a missing edge. */
enum no_edge { NO_EDGE_UNSAID, NO_EDGE_NONE, NO_EDGE_VALUE };

/* Parameters of an upload request that describe the graph. */
struct graph_options {
    bool has_directed;
    bool directed;         /* value of directed=, if has_directed; otherwise the format decides */
    bool has_vertex_count; /* n= was given, so the vertices are 0..n-1 */
    uint32_t vertex_count;
    uint32_t vertex_limit;         /* maximum number of vertices; 0 = GRAPH_VERTEX_LIMIT */
    uint64_t edge_limit;           /* maximum number of edges; 0 = no limit */
    char vertex_limit_reason[160]; /* reason for vertex_limit, for the hint; may be empty */
    uint32_t matrix_vertices;      /* maximum number of vertices for a result as a matrix */
    uint64_t room_bytes;           /* disk space available for the result */
    uint64_t element_bytes;        /* size of a matrix element, to check room_bytes */
    bool format_guessed;           /* the format was guessed, so readers may warn about it */
    char weight[64];               /* column or attribute of the weights; empty = the default */
    char source_column[64]; /* columns of the endpoints, by name or number; empty = the default */
    char target_column[64];
    bool has_decimal_comma; /* numbers in the text have a decimal comma */
    enum no_edge no_edge;
    double no_edge_value;
    char charset[CHARSET_NAME_SIZE]; /* charset of the upload; empty = not given */
};

struct graph_builder {
    const struct graph_options *options; /* borrowed */
    struct edge_buffer list;             /* edges in the order in which they were added */
    uint64_t capacity;
    uint64_t vertex_count; /* number of vertices admitted */
};

struct graph_builder graph_builder_init(const struct graph_options *options);
/* Frees the edges, if the graph has not been built; a zeroed struct is allowed. */
void graph_builder_clear(struct graph_builder *builder);

/* Checks a number of vertices. STATUS_TOO_LARGE or STATUS_DISK_FULL, with limit and hint. */
MUST_CHECK enum status graph_builder_admit(struct graph_builder *builder, uint64_t vertex_count,
                                           struct problem *reterr);
/* Bytes of memory per edge while rows are built: an entry of the list, and its target in a row. */
#define GRAPH_BUILDER_EDGE_BYTES 20
/* Returns an upper bound on the memory in bytes until the graph is built from the edges so far and
 * the last admitted number of vertices. The caller reserves this memory. Names are not included. */
uint64_t graph_builder_memory(const struct graph_builder *builder);

/* Checks a number of edges against the limit. STATUS_TOO_LARGE, with limit and hint. */
MUST_CHECK enum status graph_builder_admit_edges(const struct graph_builder *builder,
                                                 uint64_t edge_count, struct problem *reterr);
/* Adds an edge between two rows. The reader has checked the rows and that the weight is finite,
 * because only it knows the line number. STATUS_TOO_LARGE at the edge limit; STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_builder_add(struct graph_builder *builder, uint32_t source,
                                         uint32_t target, double weight, struct problem *reterr);

/* Builds the graph in canonical form, with summary and names. The names are moved on success.
 * row_of, if not NULL, maps each row passed to graph_builder_add to its final row. directed:
 * whether the format states that edges are directed; the options override it. Afterwards the
 * builder can only be cleared. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_builder_finish(struct graph_builder *builder,
                                            struct vertex_names **take_names,
                                            const uint32_t *row_of, bool directed,
                                            struct graph **ret_graph, struct problem *reterr);
