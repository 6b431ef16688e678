/* Habits of single programs in edge lists: comments that say the direction, numbers of vertices and
 * edges in the first line, and data of an edge as a dict. Part of edges.c. */
#pragma once

#include "proto/read/edge_columns.h"
#include "proto/read/name_table.h"

/* Facts from the comments above the edges. */
struct edge_dialect {
    bool says_direction;
    bool undirected;
    bool is_konect;
};

/* A comment may say the direction: SNAP's "# Undirected graph: x", and KONECT's "% sym weighted",
 * which gives columns 3 and 4 a meaning, too. STATUS_BAD_GRAPH for a bipartite list, and for the
 * banner of Matrix Market. */
MUST_CHECK enum status edge_dialect_take_comment(struct edge_dialect *dialect, const char *line,
                                                 size_t size, struct problem *reterr);

/* As an integer what numpy.savetxt, MATLAB, pandas and R write of one, "1.0000e+00", "1.0" and
 * "1e+05"; any other field as it is. */
struct field edge_dialect_integer(struct field field, char digits[24]);
/* STATUS_BAD_GRAPH for a name that is rather a piece of other text, "(a", "b:", "a->b", "'a'" or
 * "2;5", or a weight in the place of a vertex, where no header says what stands there. */
MUST_CHECK enum status edge_dialect_check_name(struct field name, bool has_header,
                                               struct problem *reterr);

/* How many fields from the first on are integers. */
size_t edge_dialect_integers(const struct edge_row *row, int64_t ret_integers[3]);
/* STATUS_BAD_GRAPH when the first line has the numbers of vertices and edges, and they are others;
 * or when it was read as an edge, and they are the same: "n m", "n m x" or "n n m". */
MUST_CHECK enum status edge_dialect_check_counts(const int64_t integers[3], bool is_pair,
                                                 bool is_counted,
                                                 const struct graph_builder *builder,
                                                 const struct name_table *names,
                                                 struct problem *reterr);

/* STATUS_BAD_GRAPH when the numbers that no header names look like times. */
MUST_CHECK enum status edge_dialect_check_times(const struct graph_builder *builder,
                                                struct problem *reterr);
/* Warns when names are numbers and others, or, where it may be, of a first line that is a header.
 */
void edge_dialect_warn(const struct graph_builder *builder, const struct name_table *names,
                       bool may_be_header, struct warnings *warnings);

/* The longest key of weights, with its NUL: that of the notes of a reader. */
#define EDGE_KEY_SIZE 64

/* Where the dict of Python begins that ends the line, as write_edgelist of NetworkX prints it:
 * {'weight': 5, 'color': 'red'}; size where there is none. */
size_t edge_dialect_find_data(const char *line, size_t size);
/* The weight in the dict, 1 where it has none. key is that of the weights, and empty until a dict
 * has one, which is chosen as from a header. */
MUST_CHECK enum status edge_dialect_weight(const char *line, size_t begin, size_t size,
                                           const struct edge_hints *hints, char key[EDGE_KEY_SIZE],
                                           struct field *ret_weight, struct problem *reterr);
