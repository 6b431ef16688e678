/* The words of a line, cut at blanks, and what to say about one that should be another. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of a line; begin stays for the columns. */
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

struct word word_next(struct word_cursor *cursor);
bool word_is(struct word word, const char *text);
/* Case is not significant. */
bool word_is_like(struct word word, const char *text);
/* STATUS_BAD_GRAPH at the word: it stands where what is expected should be. */
enum status word_refuse(struct word word, const char *expected, struct problem *reterr);
/* STATUS_BAD_GRAPH unless the line ends here. */
MUST_CHECK enum status word_expect_end(struct word_cursor *cursor, struct problem *reterr);
/* A vertex of 1..vertex_count, as its row. */
MUST_CHECK enum status word_parse_vertex(struct word word, uint32_t vertex_count, uint32_t *ret_row,
                                         struct problem *reterr);
/* A number of things, from 0. */
MUST_CHECK enum status word_parse_count(struct word word, const char *expected, int64_t *ret_count,
                                        struct problem *reterr);

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
