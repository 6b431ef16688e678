/* Lines of text, and the words of a line.
 *
 * struct line_splitter cuts bytes that come in any split into lines. A line that lies whole in the
 * bytes fed is handed on in place; only the parts of a line cut by the end of a piece are copied.
 * Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/read/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line or JSON string accepted, in bytes. */
#define READER_LINE_LIMIT 65536

struct line_splitter {
    /* Takes one line without its end (LF or CRLF) and without a UTF-8 byte order mark. A problem
     * that it returns gets the number of the line, unless it names one; the column is its own. */
    enum status (*take)(void *context, const char *line, size_t size, struct problem *reterr);
    void *context;
    size_t limit;  /* of a line, in bytes; 0: READER_LINE_LIMIT */
    uint64_t line; /* number of the line handed on, from 1 */
    char *pending; /* the begin of a line whose end has not come */
    size_t pending_size;
    size_t pending_capacity;
    bool has_nul; /* some byte fed was NUL, which the line that has it is refused for */
};

void line_splitter_finish(struct line_splitter *splitter);
/* STATUS_BAD_GRAPH for a NUL byte and for a line over the limit, else what take says. */
MUST_CHECK enum status line_splitter_feed(struct line_splitter *splitter, const char *bytes,
                                          size_t size, struct problem *reterr);
/* The last line, when nothing ended it. */
MUST_CHECK enum status line_splitter_end(struct line_splitter *splitter, struct problem *reterr);

/* ---- Words, cut at blanks ---- */

/* The rest of a line; begin stays for the columns. */
struct word_cursor {
    const char *begin;
    const char *at;
    const char *end;
};

/* The next word; size 0 at the end of the line. */
static inline struct field line_word_next(struct word_cursor *cursor)
{
    const char *begin = cursor->at;

    while (begin < cursor->end && field_is_blank(*begin)) {
        begin++;
    }
    const char *at = begin;
    while (at < cursor->end && !field_is_blank(*at)) {
        at++;
    }
    cursor->at = at;
    return (struct field){begin, (size_t)(at - begin), (uint64_t)(begin - cursor->begin) + 1, 0};
}

bool line_word_is(struct field word, const char *text);
/* Case is not significant. */
bool line_word_is_like(struct field word, const char *text);
/* STATUS_BAD_GRAPH at the word: it stands where something else is expected. */
enum status line_word_refuse(struct field word, const char *expected, struct problem *reterr);
/* STATUS_BAD_GRAPH unless the line ends here. */
MUST_CHECK enum status line_word_expect_end(struct word_cursor *cursor, struct problem *reterr);
/* A vertex of 1..vertex_count, as its row. */
MUST_CHECK enum status line_word_parse_vertex(struct field word, uint32_t vertex_count,
                                              uint32_t *ret_row, struct problem *reterr);
/* A number of things, from 0. */
MUST_CHECK enum status line_word_parse_count(struct field word, const char *expected,
                                             int64_t *ret_count, struct problem *reterr);
