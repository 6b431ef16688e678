/* Fields of a line of text: between delimiters, and in double quotes where they hold one (RFC
 * 4180). Shared by the readers of edge lists and of tables. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *bytes; /* without quotes and outer blanks */
    size_t size;
    uint64_t column; /* where it begins in the line, from 1 */
    uint64_t line;   /* its line, from 1; 0: the line at hand */
};

/* The rest of a line. A zeroed cursor is at its end. */
struct field_cursor {
    const char *begin;
    const char *at;
    const char *end;
    char *scratch;  /* fields in quotes are copied there, which takes as much room as the line has
                       bytes; NULL: they have no bytes */
    char delimiter; /* ' ' is a run of blanks */
    bool more;      /* a field follows */
};

/* A table with more columns is refused. */
#define TABLE_COLUMN_LIMIT 64

/* One line cut into its fields. */
struct table_row {
    size_t count;
    struct field fields[TABLE_COLUMN_LIMIT];
};

static inline bool field_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts a whole line. The cursor has its delimiter and scratch. */
MUST_CHECK enum status field_cut_row(struct table_row *row, struct field_cursor *cursor,
                                     const char *line, size_t size, struct problem *reterr);
/* To the first field of a line; even an empty line has one. */
void field_cursor_begin(struct field_cursor *cursor, const char *line, size_t size);
/* The next field, while more is true. STATUS_BAD_GRAPH for quotes that are not closed, and for text
 * behind them. */
MUST_CHECK enum status field_cursor_next(struct field_cursor *cursor, struct field *ret_field,
                                         struct problem *reterr);

/* '\t', ',', ';', or ' ' for runs of blanks: by what the first line of data has. */
char field_delimiter(const char *line, size_t size, bool has_decimal_comma);
/* Joins lines within a quoted field into one. Returns false while such a field is open, and then
 * keeps the line; the caller clears `joined` once the whole is taken. delimiter 0: by the line. */
bool field_join(struct text *joined, char delimiter, const char **line, size_t *size);
/* The delimiter in a first line such as "sep=;", with which Excel tells it; 0 in any other line. */
char field_announced_delimiter(const char *line, size_t size);
/* "commas", for people. */
const char *field_delimiter_name(char delimiter);
