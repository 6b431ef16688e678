#include "server/http/api/pairs.h"

#include <inttypes.h>
#include <string.h>

static enum status next_binary(struct pairs_reader *reader, uint32_t count, uint32_t ret_rows[2],
                               struct problem *reterr)
{
    struct name_scanner *body = &reader->scanner;
    const size_t left = (size_t)(body->end - body->at);

    reader->ended = left == 0;
    if (left % PAIR_SIZE != 0) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "%zu bytes are not a list of pairs, which are 8 bytes each.",
                           (size_t)(body->end - body->first));
    }
    if (reader->ended) {
        return STATUS_OK;
    }
    memcpy(ret_rows, body->at, PAIR_SIZE);
    if (ret_rows[0] >= count || ret_rows[1] >= count) {
        return problem_set(reterr, STATUS_NO_SUCH_VERTEX,
                           "Pair %" PRIu64 " is (%" PRIu32 ", %" PRIu32
                           "), and the matrix has %" PRIu32 " rows, counted from 0.",
                           reader->count, ret_rows[0], ret_rows[1], count);
    }
    body->at += PAIR_SIZE;
    reader->count++;
    return STATUS_OK;
}

enum status pair_rows_next(struct pairs_reader *reader, const struct vertex_names *names,
                           uint32_t ret_rows[2], struct problem *reterr)
{
    if (reader->form == PAIRS_BINARY) {
        return next_binary(reader, vertex_names_count(names), ret_rows, reterr);
    }
    const enum status status = pairs_next(reader, reterr);

    for (int i = 0; i < 2 && status == STATUS_OK && !reader->ended; i++) {
        const struct scanned_name *name = &reader->pair[i];

        if (!vertex_names_find(names, name->bytes, name->size, &ret_rows[i])) {
            problem_set(reterr, STATUS_NO_SUCH_VERTEX, "The graph has no vertex \"%.*s\".",
                        name->size < 128 ? (int)name->size : 128, name->bytes);
            pairs_place(reader, reterr);
            return STATUS_NO_SUCH_VERTEX;
        }
    }
    return status;
}
