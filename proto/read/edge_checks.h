/* Checks on an edge list that no column answers: comments that say the direction, names that are
 * pieces of other text, numbers of vertices and edges in the first line. Part of edges.c. */
#pragma once

#include "proto/name_table.h"
#include "proto/read/columns.h"
#include "proto/read/graph_builder.h"

/* Facts from the comments above the edges. */
struct edge_comments {
    bool says_direction;
    bool undirected;
    bool is_konect;
};

/* A comment may say the direction: SNAP's "# Undirected graph: x", and KONECT's "% sym weighted",
 * which gives columns 3 and 4 a meaning, too. STATUS_BAD_GRAPH for a bipartite list, and for the
 * banner of Matrix Market. */
MUST_CHECK enum status edge_comments_take(struct edge_comments *comments, const char *line,
                                          size_t size, struct problem *reterr);

/* As an integer what numpy.savetxt, MATLAB, pandas and R write of one, "1.0000e+00", "1.0" and
 * "1e+05"; any other field as it is. */
struct field edge_check_integer(struct field field, char digits[24]);
/* STATUS_BAD_GRAPH for a name that is rather a piece of other text, "(a", "b:", "a->b", "'a'" or
 * "2;5", or a weight in the place of a vertex, where no header says what stands there. */
MUST_CHECK enum status edge_check_name(struct field name, bool has_header, struct problem *reterr);
/* How many fields from the first on are integers. */
size_t edge_check_integers(const struct table_row *row, int64_t ret_integers[3]);
/* STATUS_BAD_GRAPH when the first line has the numbers of vertices and edges, and they are others;
 * or when it was read as an edge, and they are the same: "n m", "n m x" or "n n m". */
MUST_CHECK enum status edge_check_counts(const int64_t integers[3], size_t column_count,
                                         bool is_counted, const struct graph_builder *builder,
                                         const struct name_table *names, struct problem *reterr);
/* STATUS_BAD_GRAPH when the numbers that no header names look like times. */
MUST_CHECK enum status edge_check_times(const struct graph_builder *builder,
                                        struct problem *reterr);
/* Warns when names are numbers and others, or of a first line without numbers that may be a header.
 */
void edge_check_warn(const struct graph_builder *builder, const struct name_table *names,
                     bool may_be_header, struct warnings *warnings);

/* Where the dict of Python begins that ends the line, as write_edgelist of NetworkX prints it:
 * {'weight': 5, 'color': 'red'}; size where there is none. */
size_t edge_dict_find(const char *line, size_t size);
/* Hands each key and value of the dict to the columns. */
MUST_CHECK enum status edge_dict_take(const char *line, size_t begin, size_t size,
                                      struct columns *columns, struct edge_record *record,
                                      struct problem *reterr);
