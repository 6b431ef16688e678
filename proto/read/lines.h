/* Cuts text into lines, and a line into words. The text arrives in pieces that may be cut anywhere.
 * struct line_splitter copies only lines that are cut by the end of a piece, and passes on all
 * other lines without a copy. It is part of a reader and used by one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/read/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line or JSON string accepted, in bytes. */
#define READER_LINE_LIMIT 65536

struct line_splitter {
    /* Parses one line, without its line end (LF or CRLF) and without a UTF-8 byte order mark. The
     * splitter adds the line number to a problem, unless the callback has set one. */
    enum status (*take)(void *context, const char *line, size_t size, struct problem *reterr);
    void *context;
    size_t limit;        /* limit on the length of a line in bytes; 0: READER_LINE_LIMIT */
    uint64_t line;       /* number of the current line, from 1 */
    struct text pending; /* beginning of an unfinished line */
    bool has_nul;        /* whether a NUL byte was fed; the line that contains it is refused */
};

void line_splitter_finish(struct line_splitter *splitter);
/* Splits a piece of text. STATUS_BAD_GRAPH for a NUL byte or a line over the limit, else the status
 * of `take`. */
MUST_CHECK enum status line_splitter_feed(struct line_splitter *splitter, const char *bytes,
                                          size_t size, struct problem *reterr);
/* Passes on the last line if it has no line end. */
MUST_CHECK enum status line_splitter_end(struct line_splitter *splitter, struct problem *reterr);

/* The rest of a line that is being cut into words. begin: the line's first byte, column 1. */
struct word_cursor {
    const char *begin;
    const char *at;
    const char *end;
};

/* Cuts the next word; its size is 0 at the end of the line. */
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

/* Parses a line of `count` integers of at most 8 digits, without signs and leading zeros, separated
 * by one delimiter; ' ' also matches a tab. Returns false for other lines. */
bool line_parse_integers(const char *line, size_t size, char delimiter, size_t count,
                         uint32_t *ret_integers);
/* Returns whether the word equals the text, ignoring case. */
bool line_word_is(struct field word, const char *text);
/* Refuses a word with STATUS_BAD_GRAPH and the detail that `expected` should be in its place. */
enum status line_word_refuse(struct field word, const char *expected, struct problem *reterr);
/* Checks that the line has no more words. STATUS_BAD_GRAPH if it has. */
MUST_CHECK enum status line_word_expect_end(struct word_cursor *cursor, struct problem *reterr);
/* Parses a vertex number from 1 to vertex_count and returns its row. */
MUST_CHECK enum status line_word_parse_vertex(struct field word, uint32_t vertex_count,
                                              uint32_t *ret_row, struct problem *reterr);
/* Parses a count of 0 or more. */
MUST_CHECK enum status line_word_parse_count(struct field word, const char *expected,
                                             int64_t *ret_count, struct problem *reterr);
