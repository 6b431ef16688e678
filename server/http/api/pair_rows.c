#include "server/http/api/pair_rows.h"

#include <inttypes.h>
#include <string.h>

static enum status read_binary(struct pairs_reader *reader, uint32_t vertex_count, size_t room,
                               uint32_t ret_rows[][2], size_t *ret_count, struct problem *reterr)
{
    struct name_scanner *body = &reader->scanner;
    const size_t left = (size_t)(body->end - body->at) / PAIR_SIZE;
    const size_t count = left < room ? left : room;

    if ((size_t)(body->end - body->first) % PAIR_SIZE != 0) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "%zu bytes are not a list of pairs, which are 8 bytes each.",
                           (size_t)(body->end - body->first));
    }
    memcpy(ret_rows, body->at, count * PAIR_SIZE);
    body->at += count * PAIR_SIZE;
    for (size_t i = 0; i < count; i++) {
        if (ret_rows[i][0] >= vertex_count || ret_rows[i][1] >= vertex_count) {
            return problem_set(reterr, STATUS_NO_SUCH_VERTEX,
                               "Pair %" PRIu64 " is (%" PRIu32 ", %" PRIu32
                               "), and the matrix has %" PRIu32 " rows, counted from 0.",
                               reader->count + i, ret_rows[i][0], ret_rows[i][1], vertex_count);
        }
    }
    reader->count += count;
    reader->ended = left <= room;
    *ret_count = count;
    return STATUS_OK;
}

static enum status find_rows(const struct pairs_reader *reader, const struct vertex_names *names,
                             uint32_t ret_rows[2], struct problem *reterr)
{
    for (int i = 0; i < 2; i++) {
        const struct scanned_name *name = &reader->pair[i];

        const enum status status =
            vertex_names_require(names, name->bytes, name->size, &ret_rows[i], reterr);

        if (status != STATUS_OK) {
            pairs_place(reader, reterr);
            problem_index(reterr, reader->count - 1);
            return status;
        }
    }
    return STATUS_OK;
}

enum status pair_rows_read(struct pairs_reader *reader, const struct vertex_names *names,
                           size_t room, uint32_t ret_rows[][2], size_t *ret_count,
                           struct problem *reterr)
{
    if (reader->form == PAIRS_BINARY) {
        return read_binary(reader, vertex_names_count(names), room, ret_rows, ret_count, reterr);
    }
    *ret_count = 0;
    while (*ret_count < room && !reader->ended) {
        STATUS_TRY(pairs_next(reader, reterr));
        if (!reader->ended) {
            STATUS_TRY(find_rows(reader, names, ret_rows[*ret_count], reterr));
            ++*ret_count;
        }
    }
    return STATUS_OK;
}
