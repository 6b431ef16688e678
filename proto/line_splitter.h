/* Cuts bytes that come in any split into lines. A line that lies whole in what was fed is handed
 * on where it is; only the parts of a line cut by the end of a piece are copied.
 * Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>
#include <stdint.h>

struct line_splitter {
    /* Takes one line without its end (LF or CRLF) and without a UTF-8 byte order mark. A problem
     * that it returns gets the number of the line, unless it names one; the column is its own. */
    enum status (*take)(void *context, const char *line, size_t size, struct problem *reterr);
    /* May be NULL. Takes lines from the begin of the bytes on, as long as they are whole and as
     * nearly all are written; returns how many, and their bytes. What it leaves comes to take. */
    uint64_t (*scan)(void *context, const char *bytes, size_t size, size_t *ret_size);
    void *context;
    uint64_t line; /* number of the line handed on, from 1 */
    char *pending; /* the begin of a line whose end has not come */
    size_t pending_size;
    size_t pending_capacity;
};

void line_splitter_finish(struct line_splitter *splitter);
/* STATUS_BAD_GRAPH for a NUL byte and for a line over READER_LINE_LIMIT, else what take says. */
MUST_CHECK enum status line_splitter_feed(struct line_splitter *splitter, const char *bytes,
                                          size_t size, struct problem *reterr);
/* The last line, when nothing ended it. */
MUST_CHECK enum status line_splitter_end(struct line_splitter *splitter, struct problem *reterr);
