/* Records of a binary format: bytes in any split are handed on as whole records, in place where
 * they lie whole in the bytes fed; a record cut by the end of a piece is copied until its end
 * comes. Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

struct record_splitter {
    /* Takes `count` records; of a header it tells what follows. */
    enum status (*take)(void *context, const char *records, uint64_t count, struct problem *reterr);
    void *context;
    bool is_header; /* the next record is the header, or more of it */
    size_t size;    /* of each record, in bytes */
    uint64_t count; /* of records, 1 for a header */
    uint64_t taken; /* of these */
    struct text pending;
};

void record_splitter_finish(struct record_splitter *splitter);
/* So many bytes of a header follow, or records of this size. */
void record_splitter_expect_header(struct record_splitter *splitter, size_t size);
void record_splitter_expect(struct record_splitter *splitter, size_t size, uint64_t count);
/* STATUS_BAD_GRAPH for bytes after the last record, else what take says. */
MUST_CHECK enum status record_splitter_feed(struct record_splitter *splitter, const char *bytes,
                                            size_t size, struct problem *reterr);
/* STATUS_TRUNCATED unless all records were taken. */
MUST_CHECK enum status record_splitter_end(const struct record_splitter *splitter,
                                           struct problem *reterr);
