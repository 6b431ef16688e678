/* Collects edges in the order of the file and turns them into a struct graph.
 * 16 bytes per edge, and 20 while they become rows. */
#pragma once

#include "proto/graph.h"
#include "proto/read/charset.h"
#include "proto/read/edge_buffer.h"

struct graph_builder;

/* The parameter no_edge=: a value that stands for a missing edge, or that none does. */
enum no_edge { NO_EDGE_UNSAID, NO_EDGE_NONE, NO_EDGE_VALUE };

/* Parameters of the request about the graph, which are not in the uploaded bytes. */
struct graph_options {
    bool has_directed;
    bool directed;         /* when has_directed; else what the format says */
    bool has_vertex_count; /* the n= parameter: vertices are 0..n-1 */
    uint32_t vertex_count;
    uint32_t vertex_limit; /* more vertices than this: STATUS_TOO_LARGE; 0 = GRAPH_VERTEX_LIMIT */
    uint64_t edge_limit;   /* likewise for edges; 0 = no limit */
    char vertex_limit_reason[160]; /* what sets vertex_limit, for the hint; empty = unsaid */
    uint32_t matrix_vertices; /* up to so many the result is a matrix, and the next two count */
    uint64_t room_bytes;      /* on the disk for the result, all of whose elements are */
    uint64_t element_bytes;   /* of so many: more vertices than fit are STATUS_DISK_FULL */
    bool format_guessed;      /* by the first bytes, so that a reader may warn */
    char weight[64];          /* column or attribute to take weights from; empty = the default */
    char source_column[64];   /* columns of the ends, by name or number; empty = the default */
    char target_column[64];
    bool has_decimal_comma; /* in numbers of text */
    enum no_edge no_edge;
    double no_edge_value;
    char charset[CHARSET_NAME_SIZE]; /* the text is in UTF-8, whatever it says itself; empty =
                                        unsaid */
};

MUST_CHECK enum status graph_builder_create(const struct graph_options *options,
                                            struct graph_builder **ret_builder);
void graph_builder_destroy(struct graph_builder *builder);

/* STATUS_TOO_LARGE or STATUS_DISK_FULL, with limit and hint, when the options do not admit this
 * many vertices. */
MUST_CHECK enum status graph_builder_admit(struct graph_builder *builder, uint64_t vertex_count,
                                           struct problem *reterr);
/* An edge takes these: its place in the list, and its target in a row. */
#define GRAPH_BUILDER_EDGE_BYTES 20
/* Bytes that the edges, and as many vertices as were admitted last, take at most until they are
 * rows: to be told before they are taken. Names are not counted. */
uint64_t graph_builder_memory(const struct graph_builder *builder);

/* STATUS_TOO_LARGE with limit and hint when the options do not admit this many edges. */
MUST_CHECK enum status graph_builder_admit_edges(const struct graph_builder *builder,
                                                 uint64_t edge_count, struct problem *reterr);
/* An edge between rows, of a finite weight. STATUS_TOO_LARGE at the edge limit, STATUS_NO_MEMORY.
 * Rows are not checked here: the reader knows its line. */
MUST_CHECK enum status graph_builder_add(struct graph_builder *builder, uint32_t source,
                                         uint32_t target, double weight, struct problem *reterr);

uint64_t graph_builder_edge_count(const struct graph_builder *builder);
/* An edge collected so far. */
struct edge graph_builder_edge(const struct graph_builder *builder, uint64_t index);

/* Canonical form, summary and names. Takes names (moved on success). row_of, when not NULL, maps
 * each row used in add to its final row (rows were given out in order of appearance). directed is
 * what the format says; the options overrule it. The builder is spent either way. STATUS_NO_MEMORY.
 */
MUST_CHECK enum status graph_builder_finish(struct graph_builder *builder,
                                            struct vertex_names **take_names,
                                            const uint32_t *row_of, bool directed,
                                            struct graph **ret_graph, struct problem *reterr);
