/* The columns of an edge list that are the source, the target and the weight: decided once, from
 * the first lines of the file. Part of edges.c, which owns the rows. */
#pragma once

#include "proto/read/fields.h"
#include "proto/read/graph_builder.h"
#include "proto/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More columns than this are refused. */
#define EDGE_COLUMN_LIMIT 64
#define NO_COLUMN SIZE_MAX

/* One line cut into its fields. */
struct edge_row {
    size_t count;
    struct field fields[EDGE_COLUMN_LIMIT];
};

struct edge_columns {
    size_t count; /* in every line */
    size_t source;
    size_t target;
    size_t weight; /* NO_COLUMN = every weight is 1 */
    size_t type;   /* Gephi's: Directed or Undirected in every line; or NO_COLUMN */
    uint64_t open; /* by bit: empty in the first line, so that it is not known what they hold */
};

/* Facts about the columns that the parameters and the comments give. */
struct edge_hints {
    const char *weight;        /* name or number of a column; empty: choose one */
    bool has_time;             /* KONECT's: columns 3 and 4 are weight and time */
    struct warnings *warnings; /* for what was guessed and what is unused */
};

enum edge_header { EDGE_HEADER_NO, EDGE_HEADER_YES, EDGE_HEADER_PERHAPS };

/* Whether the first line names columns. A line with a number is data; one with names that we know
 * is a header; PERHAPS is a line that can be no edge for want of a weight: a header if the line
 * after it has one. */
enum edge_header edge_columns_judge(const struct edge_row *first);

/* header may be NULL; first is the first row of data. STATUS_BAD_PARAMETER when hints->weight names
 * no column, STATUS_BAD_GRAPH when there are several columns that could be the weight. */
MUST_CHECK enum status edge_columns_choose(const struct edge_row *header,
                                           const struct edge_row *first,
                                           const struct edge_hints *hints,
                                           struct edge_columns *ret_columns,
                                           struct problem *reterr);
/* STATUS_BAD_GRAPH at the first open column that turns out to hold numbers. */
MUST_CHECK enum status edge_columns_check_open(const struct edge_columns *columns,
                                               const struct edge_row *row, struct problem *reterr);
/* The lower, the rather an attribute of this name is the weight; NO_COLUMN when it is not. wanted:
 * the parameter, which is to be its name; else names are known, spelt without regard to case,
 * blanks, '_' and '-', and perhaps with a unit behind them. */
size_t edge_columns_rank(struct field name, const char *wanted);
/* Whether the parameter says that every edge counts 1. */
bool edge_columns_are_unweighted(const char *wanted);
/* Whether the attribute numbers the edges. */
bool edge_columns_is_id(struct field name);
/* Whether the field has Gephi's type of an edge, Directed or Undirected. */
bool edge_columns_type(struct field field, bool *ret_directed);
/* STATUS_BAD_GRAPH for another type than that of the edges before: one graph is directed or
 * undirected as a whole. */
MUST_CHECK enum status edge_columns_check_type(struct field type, bool undirected,
                                               struct problem *reterr);

struct reader_notes;
/* Notes the dialect and the column of the weights. header may be NULL. */
void edge_columns_note(const struct edge_columns *columns, const struct edge_row *header,
                       char delimiter, struct reader_notes *notes);

/* Source, target and perhaps weight, in this order, and nothing else. */
bool edge_columns_are_plain(const struct edge_columns *columns);
/* Whether the row has a number where an edge without a header has its weight, or where the header
 * names one. */
bool edge_columns_has_weight(const struct edge_row *header, const struct edge_row *row);
