/* The words of a line, cut at blanks, and what to say about one that should be another. */
#pragma once

#include "proto/problem.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* What the first 1 to 8 of them are worth: pairs of digits, then of pairs, then of fours. */
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

    memcpy(&bytes, at, sizeof bytes);
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
