/* Splits a binary format into records, from bytes split into pieces anywhere. Records that lie in
 * one piece are passed on in place; a record cut by the end of a piece is copied until it is
 * complete. Embedded in a reader and used by one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <string.h>

struct record_splitter {
    /* Parses `count` records. If the record is a header, it then calls an expect function. */
    enum status (*take)(void *context, const char *records, uint64_t count, struct problem *reterr);
    void *context;
    bool is_header; /* the next record is a header, or a further part of it */
    size_t size;    /* size of each record in bytes */
    uint64_t count; /* number of expected records; 1 for a header */
    uint64_t taken; /* records passed on so far */
    struct text pending;
};

/* Returns the little-endian uint32 at the bytes. */
static inline uint32_t record_u4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Declare what follows: `size` bytes of header, or `count` records of `size` bytes. */
void record_splitter_expect_header(struct record_splitter *splitter, size_t size);
void record_splitter_expect(struct record_splitter *splitter, size_t size, uint64_t count);
/* Splits a piece of the body. STATUS_BAD_GRAPH for bytes after the last, else the status of
 * `take`. */
MUST_CHECK enum status record_splitter_feed(struct record_splitter *splitter, const char *bytes,
                                            size_t size, struct problem *reterr);
/* Ends the body. STATUS_TRUNCATED unless all expected records were passed on. */
MUST_CHECK enum status record_splitter_end(const struct record_splitter *splitter,
                                           struct problem *reterr);
