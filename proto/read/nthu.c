/* The binary format of a university course (NTHU): little-endian int32 V and E, then E records of
 * source, target and weight with vertices 0..V-1. Error messages give the number of the record,
 * because the format has no lines. */
#include "proto/read/reader.h"

#define HEADER_SIZE 8
#define RECORD_SIZE 12

static enum status parse_header(struct reader *reader, const char *bytes, struct problem *reterr)
{
    const int32_t vertex_count = (int32_t)record_u4(bytes);
    const int32_t edge_count = (int32_t)record_u4(bytes + 4);
    if (vertex_count < 0 || edge_count < 0) {
        return problem_set(
            reterr, STATUS_BAD_GRAPH,
            "The header says V=%d vertices and E=%d edges; the file may be in another format.",
            vertex_count, edge_count);
    }
    record_splitter_expect(&reader->records, RECORD_SIZE, (uint64_t)edge_count);
    return reader_announce(reader, (uint64_t)vertex_count, (uint64_t)edge_count, reterr);
}

static enum status take_records(void *context, const char *records, uint64_t count,
                                struct problem *reterr)
{
    struct reader *reader = context;
    if (reader->records.is_header) {
        return parse_header(reader, records, reterr);
    }
    for (uint64_t i = 0; i < count; i++, records += RECORD_SIZE) {
        /* A negative vertex becomes a large unsigned number and is refused below. */
        const uint32_t ends[2] = {record_u4(records), record_u4(records + 4)};

        if (ends[0] >= reader->announced_vertices || ends[1] >= reader->announced_vertices) {
            return problem_set(
                reterr, STATUS_BAD_GRAPH,
                "In record %llu, the edge from %d to %d has a vertex outside the range 0 to %d.",
                (unsigned long long)(reader->records.taken - count + i), (int32_t)ends[0],
                (int32_t)ends[1], (int32_t)reader->announced_vertices - 1);
        }
        STATUS_TRY(reader_add_integer(reader, ends, (int32_t)record_u4(records + 8), reterr));
    }
    return STATUS_OK;
}

static enum status finish_nthu(struct reader *reader, struct graph **ret_graph,
                               struct problem *reterr)
{
    return reader_finish_range(reader, reader->announced_vertices, 0, NULL, true, ret_graph,
                               reterr);
}

const struct reader_class reader_nthu_class = {
    .size = sizeof(struct reader),
    .header_size = HEADER_SIZE,
    .take_records = take_records,
    .finish = finish_nthu,
    .says_direction = true,
    .has_weights = true,
};
