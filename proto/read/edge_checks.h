/* Checks of an edge list that do not concern its columns: comments that state the direction, names
 * that are fragments of another syntax, and the numbers of vertices and edges in the first line.
 * Only edges.c uses them. */
#pragma once

#include "proto/read/columns.h"
#include "proto/read/graph_builder.h"

/* Facts stated by comments at the beginning of the file. */
struct edge_comments {
    bool says_direction;
    bool undirected;
    bool is_konect;
};

/* Parses a comment that states the direction: SNAP's "# Undirected graph: x", or KONECT's "% sym
 * weighted", which also says that columns 3 and 4 are weight and time. STATUS_BAD_GRAPH for a
 * bipartite list, and for the banner of Matrix Market. */
MUST_CHECK enum status edge_comments_parse(struct edge_comments *comments, const char *line,
                                           size_t size, struct problem *reterr);

/* Converts an integer in the notation of numpy.savetxt, MATLAB, pandas or R, "1.0000e+00", "1.0" or
 * "1e+05", to plain digits; returns any other field unchanged. */
struct field edge_check_integer(struct field field, char digits[24]);
/* Refuses, with STATUS_BAD_GRAPH, a name that looks like a fragment of another syntax, such as
 * "(a", "b:", "a->b", "'a'" or "2;5"; or, without a header, like a weight. */
MUST_CHECK enum status edge_check_name(struct field name, bool has_header, struct problem *reterr);
/* Checks a first line that may give the numbers of vertices and edges: "n m", "n m x" or "n n m".
 * STATUS_BAD_GRAPH if it was read as these numbers (is_counted) but does not match the list, or if
 * it was read as an edge but matches the list. */
MUST_CHECK enum status edge_check_counts(const int64_t integers[3], size_t column_count,
                                         bool is_counted, const struct graph_builder *builder,
                                         const struct name_table *names, struct problem *reterr);
/* In a list without a header, refuses weights that look like timestamps. STATUS_BAD_GRAPH. */
MUST_CHECK enum status edge_check_times(const struct graph_builder *builder,
                                        struct problem *reterr);
/* Warns when some names are integers and others are not, or when the first line may be a header. */
void edge_check_warn(const struct graph_builder *builder, const struct name_table *names,
                     bool may_be_header, struct warnings *warnings);

/* Returns the offset of the Python dict at the end of the line, {'weight': 5, 'color': 'red'}, as
 * NetworkX's write_edgelist writes it. Returns size if there is no dict. */
size_t edge_dict_find(const char *line, size_t size);
/* Passes each key and value of the dict at `begin` to the columns. */
MUST_CHECK enum status edge_dict_parse(const char *line, size_t begin, size_t size,
                                       struct columns *columns, struct edge_record *record,
                                       struct problem *reterr);
