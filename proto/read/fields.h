/* Fields of a line of text: separated by delimiters, or in double quotes (RFC 4180). Shared by the
 * readers of edge lists and tables. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *bytes; /* bytes without quotes and outer blanks */
    size_t size;
    uint64_t column; /* position in the line, from 1 */
    uint64_t line;   /* line number, from 1; 0: the current line */
};

/* The rest of a line. A zeroed cursor is at the end of its line. */
struct field_cursor {
    const char *begin;
    const char *at;
    const char *end;
    char *scratch;  /* buffer for quoted fields, as large as the line; NULL: quoted fields have no
                       bytes */
    char delimiter; /* ' ' matches a run of blanks */
    bool more;      /* another field follows */
};

/* Limit on the columns of a table. */
#define TABLE_COLUMN_LIMIT 64

/* A line cut into fields. */
struct table_row {
    size_t count;
    struct field fields[TABLE_COLUMN_LIMIT];
};

static inline bool field_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts a whole line. The caller has set the delimiter and scratch of the cursor. */
MUST_CHECK enum status field_cut_row(struct table_row *row, struct field_cursor *cursor,
                                     const char *line, size_t size, struct problem *reterr);
/* Moves the cursor to the first field of a line; even an empty line has one field. */
void field_cursor_begin(struct field_cursor *cursor, const char *line, size_t size);
/* Cuts the next field, while `more` is true. STATUS_BAD_GRAPH for an unclosed quote or text after
 * one. */
MUST_CHECK enum status field_cursor_next(struct field_cursor *cursor, struct field *ret_field,
                                         struct problem *reterr);

/* Detects the delimiter from the first line of data: '\t', ',', ';', or ' ' for runs of blanks. */
char field_delimiter(const char *line, size_t size, bool has_decimal_comma);
/* Joins lines within a quoted field into one. Returns false and stores the line while such a field
 * is open; the caller clears `joined` once the result is parsed. delimiter 0: detect it from the
 * line. */
bool field_join(struct text *joined, char delimiter, const char **line, size_t *size);
/* Returns the delimiter of a first line such as "sep=;", which Excel writes; 0 for any other line.
 */
char field_announced_delimiter(const char *line, size_t size);
/* Returns a name for users: "commas". */
const char *field_delimiter_name(char delimiter);
