/* Collects edges in the order of the file and builds a struct graph from them. A builder belongs to
 * one reader and its thread. It uses 16 bytes an edge, and 20 while the edges become rows. */
#pragma once

#include "proto/graph.h"
#include "proto/read/charset.h"
#include "proto/read/edge_buffer.h"

struct graph_builder;

/* The parameter no_edge=: a weight that stands for a missing edge, or `none` if no weight does. */
enum no_edge { NO_EDGE_UNSAID, NO_EDGE_NONE, NO_EDGE_VALUE };

/* Parameters of a request about the graph, which the uploaded bytes do not contain. */
struct graph_options {
    bool has_directed;
    bool directed;         /* value of directed=, if has_directed; otherwise the format decides */
    bool has_vertex_count; /* the parameter n= was given: vertices are 0..n-1 */
    uint32_t vertex_count;
    uint32_t vertex_limit; /* limit on vertices, else STATUS_TOO_LARGE; 0 = GRAPH_VERTEX_LIMIT */
    uint64_t edge_limit;   /* limit on edges, else STATUS_TOO_LARGE; 0 = no limit */
    char vertex_limit_reason[160]; /* reason for vertex_limit, for the hint; empty = none given */
    uint32_t matrix_vertices; /* largest number of vertices whose result is a matrix; room_bytes and
                                 element_bytes apply to these */
    uint64_t room_bytes;      /* disk space available for the result */
    uint64_t element_bytes;   /* size of an element; a matrix beyond room_bytes: STATUS_DISK_FULL */
    bool format_guessed;      /* the format was guessed; a reader may warn */
    char weight[64];          /* column or attribute of the weights; empty = the default */
    char source_column[64];   /* columns of the ends, by name or number; empty = the default */
    char target_column[64];
    bool has_decimal_comma; /* numbers in text have a decimal comma */
    enum no_edge no_edge;
    double no_edge_value;
    char charset[CHARSET_NAME_SIZE]; /* charset from which the text was converted to UTF-8, whatever
                                        the file says itself; empty = not given */
};

MUST_CHECK enum status graph_builder_create(const struct graph_options *options,
                                            struct graph_builder **ret_builder);
void graph_builder_destroy(struct graph_builder *builder);

/* Checks a number of vertices: STATUS_TOO_LARGE or STATUS_DISK_FULL, with limit and hint. */
MUST_CHECK enum status graph_builder_admit(struct graph_builder *builder, uint64_t vertex_count,
                                           struct problem *reterr);
/* Memory for an edge: an entry of the list, and its target in a row. */
#define GRAPH_BUILDER_EDGE_BYTES 20
/* Upper bound on the memory, in bytes, for the edges so far and the last admitted number of
 * vertices until the graph is built, so that it can be reserved in advance. Excludes names. */
uint64_t graph_builder_memory(const struct graph_builder *builder);

/* Checks a number of edges: STATUS_TOO_LARGE with limit and hint. */
MUST_CHECK enum status graph_builder_admit_edges(const struct graph_builder *builder,
                                                 uint64_t edge_count, struct problem *reterr);
/* Adds an edge between two rows with a finite weight. STATUS_TOO_LARGE at the edge limit,
 * STATUS_NO_MEMORY. The rows are not checked here, because only the reader knows the line. */
MUST_CHECK enum status graph_builder_add(struct graph_builder *builder, uint32_t source,
                                         uint32_t target, double weight, struct problem *reterr);

uint64_t graph_builder_edge_count(const struct graph_builder *builder);
/* Returns an edge added earlier. */
struct edge graph_builder_edge(const struct graph_builder *builder, uint64_t index);

/* Builds the graph in canonical form with summary and names; names are moved on success. row_of, if
 * not NULL, maps each row passed to graph_builder_add to its final row. directed is what the format
 * says; the options override it. Afterwards the builder can only be destroyed. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_builder_finish(struct graph_builder *builder,
                                            struct vertex_names **take_names,
                                            const uint32_t *row_of, bool directed,
                                            struct graph **ret_graph, struct problem *reterr);
