#include "proto/read/records.h"

#include <inttypes.h>

void record_splitter_expect_header(struct record_splitter *splitter, size_t size)
{
    record_splitter_expect(splitter, size, 1);
    splitter->is_header = true;
}

void record_splitter_expect(struct record_splitter *splitter, size_t size, uint64_t count)
{
    splitter->is_header = false;
    splitter->size = size;
    splitter->count = count;
    splitter->taken = 0;
}

enum status record_splitter_feed(struct record_splitter *splitter, const char *bytes, size_t size,
                                 struct problem *reterr)
{
    struct text *pending = &splitter->pending;

    while (size > 0) {
        const uint64_t left = splitter->count - splitter->taken;
        const uint64_t whole = pending->size == 0 ? size / splitter->size : 0;
        const char *records = bytes;
        uint64_t count = whole < left ? whole : left;
        size_t part = count * splitter->size;

        if (left == 0) {
            return problem_set(reterr, STATUS_BAD_GRAPH,
                               "There are extra bytes after the last of %" PRIu64
                               " records of %zu bytes that the header declares.",
                               splitter->count, splitter->size);
        }
        if (count == 0) {
            const size_t missing = splitter->size - pending->size;

            part = missing < size ? missing : size;
            text_append(pending, bytes, part);
            STATUS_TRY(text_status(pending));
            if (part == missing) {
                pending->size = 0;
                records = pending->bytes;
                count = 1;
            }
        }
        if (count > 0) {
            splitter->taken += count;
            STATUS_TRY(splitter->take(splitter->context, records, count, reterr));
        }
        bytes += part;
        size -= part;
    }
    return STATUS_OK;
}

enum status record_splitter_end(const struct record_splitter *splitter, struct problem *reterr)
{
    if (splitter->is_header) {
        return problem_set(reterr, STATUS_TRUNCATED, "The file ends within its header.");
    }
    return splitter->taken == splitter->count
               ? STATUS_OK
               : problem_set(reterr, STATUS_TRUNCATED,
                             "The file has only %" PRIu64 " of %" PRIu64 " records of %zu bytes%s.",
                             splitter->taken, splitter->count, splitter->size,
                             splitter->pending.size > 0 ? ", and a part of another" : "");
}
