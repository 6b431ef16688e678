/* Splits a binary format into records, from bytes in any split. Records that lie whole in the bytes
 * fed are handed on in place; a record cut by the end of a piece is copied until it is complete.
 * Embedded in a reader and used by one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <string.h>

struct record_splitter {
    /* Parses `count` records. After a header it calls an expect function. */
    enum status (*take)(void *context, const char *records, uint64_t count, struct problem *reterr);
    void *context;
    bool is_header; /* the next record is a header, or more of it */
    size_t size;    /* size of each record in bytes */
    uint64_t count; /* number of expected records; 1 for a header */
    uint64_t taken; /* records handed on so far */
    struct text pending;
};

/* Returns the little-endian number at the bytes. */
static inline uint32_t record_u4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Announce what follows: `size` bytes of header, or `count` records of `size` bytes. */
void record_splitter_expect_header(struct record_splitter *splitter, size_t size);
void record_splitter_expect(struct record_splitter *splitter, size_t size, uint64_t count);
/* STATUS_BAD_GRAPH for bytes after the last record, else the status of `take`. */
MUST_CHECK enum status record_splitter_feed(struct record_splitter *splitter, const char *bytes,
                                            size_t size, struct problem *reterr);
/* STATUS_TRUNCATED unless all expected records were handed on. */
MUST_CHECK enum status record_splitter_end(const struct record_splitter *splitter,
                                           struct problem *reterr);
