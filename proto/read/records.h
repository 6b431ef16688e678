/* Splits a binary format into records. The bytes arrive in pieces that may be cut anywhere. Only a
 * record that is cut by the end of a piece is copied; all other records are passed on without a
 * copy. A splitter is part of a reader and used by one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <string.h>

struct record_splitter {
    /* Parses `count` records. After a header it calls one of the expect functions below. */
    enum status (*take)(void *context, const char *records, uint64_t count, struct problem *reterr);
    void *context;
    bool is_header; /* the next record is a header, or a further part of it */
    size_t size;    /* size of each record in bytes */
    uint64_t count; /* number of expected records; 1 for a header */
    uint64_t taken; /* number of records passed on so far */
    struct text pending;
};

/* Returns the little-endian uint32 at the bytes. */
static inline uint32_t record_u4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Declares the next part of the body: a header of `size` bytes, or `count` records of `size`
 * bytes. */
void record_splitter_expect_header(struct record_splitter *splitter, size_t size);
void record_splitter_expect(struct record_splitter *splitter, size_t size, uint64_t count);
/* Splits a piece of the body. STATUS_BAD_GRAPH for surplus bytes, else the status of `take`. */
MUST_CHECK enum status record_splitter_feed(struct record_splitter *splitter, const char *bytes,
                                            size_t size, struct problem *reterr);
/* Ends the body. STATUS_TRUNCATED unless all expected records were passed on. */
MUST_CHECK enum status record_splitter_end(const struct record_splitter *splitter,
                                           struct problem *reterr);
