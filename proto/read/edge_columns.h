/* The columns of an edge list that are the source, the target and the weight: decided once, from
 * the first lines of the file. Part of edges.c, which owns the rows. */
#pragma once

#include "proto/read/graph_builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More columns than this are refused. */
#define EDGE_COLUMN_LIMIT 64
#define NO_COLUMN SIZE_MAX

struct edge_field {
    const char *bytes; /* without quotes */
    size_t size;
    uint64_t column; /* where it begins in the line, from 1 */
};

/* One line cut into its fields. */
struct edge_row {
    size_t count;
    struct edge_field fields[EDGE_COLUMN_LIMIT];
};

struct edge_columns {
    size_t count; /* in every line */
    size_t source;
    size_t target;
    size_t weight; /* NO_COLUMN = every weight is 1 */
};

/* '\t', ',', ';', or ' ' for runs of blanks: by what the first line of data has. */
char edge_columns_delimiter(const char *line, size_t size);

enum edge_header { EDGE_HEADER_NO, EDGE_HEADER_YES, EDGE_HEADER_PERHAPS };

/* Whether the first line names columns. A line with a number is data; one with names that we know
 * is a header; PERHAPS is a line that can be no edge for want of a weight: a header if the line
 * after it has one. */
enum edge_header edge_columns_judge(const struct edge_row *first);

/* header may be NULL; first is the first row of data. STATUS_BAD_PARAMETER when options->weight
 * names no column. */
MUST_CHECK enum status edge_columns_choose(const struct edge_row *header,
                                           const struct edge_row *first,
                                           const struct graph_options *options,
                                           struct edge_columns *ret_columns,
                                           struct problem *reterr);
/* A line as nearly all are written: two or three numbers with one delimiter between them. */
struct edge_scan {
    uint32_t ends[2];
    uint32_t weight;   /* when size is 0; 1 without a column */
    const char *bytes; /* of a weight that is longer, or a decimal */
    size_t size;
    uint64_t column; /* of the weight; 0 without */
};

/* Source, target and perhaps weight, in this order, and nothing else. */
bool edge_columns_are_plain(const struct edge_columns *columns);
/* Scans a line with plain columns. False for a line that has to be split into its fields
 * instead. */
bool edge_columns_scan(const struct edge_columns *columns, char delimiter, const char *line,
                       size_t size, struct edge_scan *ret_scan);
/* Whether the row has a number where an edge without a header has its weight, or where the header
 * names one. */
bool edge_columns_has_weight(const struct edge_row *header, const struct edge_row *row);

/* The fast path for plain columns: small numbers of vertices that were seen before, one delimiter
 * between them, and perhaps a small weight. */
struct edge_lines {
    const uint32_t *row_of; /* row + 1 by number, 0 for one not seen; NULL: rows are numbers */
    uint32_t number_limit;  /* numbers are below */
    char delimiter;
    bool has_weight; /* else it is 1 */
};

/* From the begin of a line on, up to the first that is not whole or not such a line, and room for
 * as many edges. Returns how many; ret_size: their bytes. */
uint64_t edge_lines_scan(const struct edge_lines *lines, const char *bytes, size_t size,
                         struct edge_i4 *edges, uint64_t room, size_t *ret_size);
