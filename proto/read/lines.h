/* Lines of text, and the words of a line.
 *
 * struct line_splitter cuts bytes that come in any split into lines. A line that lies whole in the
 * bytes fed is handed on in place; only the parts of a line cut by the end of a piece are copied.
 * Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/problem.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The longest line or JSON string accepted, in bytes. */
#define READER_LINE_LIMIT 65536

struct line_splitter {
    /* Takes one line without its end (LF or CRLF) and without a UTF-8 byte order mark. A problem
     * that it returns gets the number of the line, unless it names one; the column is its own. */
    enum status (*take)(void *context, const char *line, size_t size, struct problem *reterr);
    /* The fast path, or NULL: takes lines from the begin of the bytes on, as long as they are whole
     * and in the plainest form; returns how many, and their bytes. All others come to take. */
    uint64_t (*scan)(void *context, const char *bytes, size_t size, size_t *ret_size);
    void *context;
    size_t limit;  /* of a line, in bytes; 0: READER_LINE_LIMIT */
    uint64_t line; /* number of the line handed on, from 1 */
    char *pending; /* the begin of a line whose end has not come */
    size_t pending_size;
    size_t pending_capacity;
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

struct word {
    const char *bytes;
    size_t size; /* 0 at the end of the line */
    uint64_t column;
};

struct word line_word_next(struct word_cursor *cursor);
bool line_word_is(struct word word, const char *text);
/* Case is not significant. */
bool line_word_is_like(struct word word, const char *text);
/* STATUS_BAD_GRAPH at the word: it stands where something else is expected. */
enum status line_word_refuse(struct word word, const char *expected, struct problem *reterr);
/* STATUS_BAD_GRAPH unless the line ends here. */
MUST_CHECK enum status line_word_expect_end(struct word_cursor *cursor, struct problem *reterr);
/* A vertex of 1..vertex_count, as its row. */
MUST_CHECK enum status line_word_parse_vertex(struct word word, uint32_t vertex_count,
                                              uint32_t *ret_row, struct problem *reterr);
/* A number of things, from 0. */
MUST_CHECK enum status line_word_parse_count(struct word word, const char *expected,
                                             int64_t *ret_count, struct problem *reterr);

#define WORD_EIGHT_ZEROS UINT64_C(0x3030303030303030)

/* The digits at the begin of eight bytes, the first byte lowest: how many, 8 for more as well. */
static inline unsigned word_count_digits(uint64_t bytes)
{
    const uint64_t values = bytes ^ WORD_EIGHT_ZEROS;
    /* Bit 7 of each byte above 9; a carry reaches bytes behind the first of these alone. */
    const uint64_t others =
        ((values + UINT64_C(0x7676767676767676)) | values) & UINT64_C(0x8080808080808080);

    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* The value of the first 1 to 8 of them: pairs of digits, then of pairs, then of fours. */
static inline uint32_t word_value_of_digits(uint64_t bytes, unsigned count)
{
    const uint64_t low = UINT64_C(0x000000FF000000FF);
    uint64_t value = (bytes ^ WORD_EIGHT_ZEROS) << (64 - 8 * count);

    value = value * 10 + (value >> 8);
    value = (value & low) * (100 + (UINT64_C(1000000) << 32)) +
            (value >> 16 & low) * (1 + (UINT64_C(10000) << 32));
    return (uint32_t)(value >> 32);
}

/* At most nine digits from at on: where they end; NULL when there are none, or more. */
static inline const char *word_scan_small(const char *at, const char *end, uint32_t *ret_value)
{
    const char *begin = at;
    uint32_t value = 0;

    while (at < end && *at >= '0' && *at <= '9' && at - begin < 10) {
        value = value * 10 + (uint32_t)(*at++ - '0');
    }
    *ret_value = value;
    return at > begin && at - begin < 10 ? at : NULL;
}

/* The same where at least WORD_AHEAD bytes may be read from at on. */
#define WORD_AHEAD 10
static inline const char *word_scan_ahead(const char *at, uint32_t *ret_value)
{
    uint64_t bytes;
    unsigned count;

    memcpy(&bytes, at, sizeof(bytes));
    bytes = le64toh(bytes);
    count = word_count_digits(bytes);
    if (count == 8) {
        return word_scan_small(at, at + WORD_AHEAD, ret_value);
    }
    if (count == 0) {
        return NULL;
    }
    *ret_value = word_value_of_digits(bytes, count);
    return at + count;
}

/* Past LF or CRLF; NULL when there is something else. */
static inline const char *word_scan_end(const char *at)
{
    at += *at == '\r';
    return *at == '\n' ? at + 1 : NULL;
}
