/* Cuts a line of text into fields, which are separated by delimiters and may be in double quotes
 * (RFC 4180). The readers of edge lists and tables share these functions. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *bytes; /* text without quotes and surrounding spaces */
    size_t size;
    uint64_t column; /* column in the line, in bytes, from 1 */
    uint64_t line;   /* line number, from 1; 0: the current line */
};

/* The rest of a line that is being cut into fields. A zeroed cursor is at the end of a line. */
struct field_cursor {
    const char *begin;
    const char *at;
    const char *end;
    char *scratch;  /* buffer of the line's size for quoted fields; NULL: their text is dropped */
    char delimiter; /* ' ' matches one or more spaces */
    bool more;      /* whether another field follows */
};

/* Maximum number of columns of a table. */
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

/* Returns the index of the first byte of the line from `at` on that is not a blank; size if all
 * are. */
static inline size_t field_skip_blanks(const char *line, size_t at, size_t size)
{
    while (at < size && field_is_blank(line[at])) {
        at++;
    }
    return at;
}

/* Cuts a whole line. The caller has set the delimiter and scratch of the cursor. */
MUST_CHECK enum status field_cut_row(struct table_row *row, struct field_cursor *cursor,
                                     const char *line, size_t size, struct problem *reterr);
/* Moves the cursor to the beginning of a line; even an empty line has one field. */
void field_cursor_begin(struct field_cursor *cursor, const char *line, size_t size);
/* Cuts the next field. May be called only while `more` is true. STATUS_BAD_GRAPH for an unclosed
 * quote, or for text after a closing quote. */
MUST_CHECK enum status field_cursor_next(struct field_cursor *cursor, struct field *ret_field,
                                         struct problem *reterr);

/* Detects the delimiter in the first line of data: '\t', ',', ';', or ' ' for one or more
 * spaces. */
char field_delimiter(const char *line, size_t size, bool has_decimal_comma);
/* Joins the lines of a quoted field into one line. Returns false, and stores the line, while a
 * quoted field is open. The caller clears `joined` after using the line. delimiter 0: detect it. */
bool field_join(struct text *joined, char delimiter, const char **line, size_t *size);
/* Returns the delimiter that a first line such as "sep=;" declares for Excel; 0 for other lines. */
char field_announced_delimiter(const char *line, size_t size);
/* Returns a name of the delimiter for users, such as "commas". */
const char *field_delimiter_name(char delimiter);
