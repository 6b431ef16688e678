/* The coursework binary: little-endian int32 V, E, then E times source, target, weight with
 * vertices 0..V-1. No lines: problems name the record. */
#include "proto/read/reader.h"

#include <endian.h>
#include <string.h>

#define HEADER_SIZE 8
#define RECORD_SIZE 12

struct nthu {
    struct reader reader;
    bool announced;
    int32_t vertex_count;
    int32_t edge_count;
    uint64_t records;          /* read, also those that are no edge by no_edge= */
    char pending[RECORD_SIZE]; /* a record, or the header, cut by the end of a piece */
    size_t pending_size;
};

static int32_t get_i4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return (int32_t)le32toh(value);
}

static enum status parse_header(struct nthu *nthu, const char *bytes, struct problem *reterr)
{
    struct reader_notes *notes = &nthu->reader.notes;
    enum status status;

    nthu->vertex_count = get_i4(bytes);
    nthu->edge_count = get_i4(bytes + 4);
    if (nthu->vertex_count < 0 || nthu->edge_count < 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The header says V=%d vertices and E=%d edges: is this the format?",
                           nthu->vertex_count, nthu->edge_count);
    }
    status = reader_announce(&nthu->reader, (uint64_t)nthu->vertex_count,
                             (uint64_t)nthu->edge_count, reterr);
    nthu->announced = status == STATUS_OK;
    memcpy(notes->weight, READER_WEIGHT_VALUE, sizeof(READER_WEIGHT_VALUE));
    notes->says_direction = true;
    return status;
}

/* As many whole records as there is room for at once. A negative vertex is a large one here. */
static enum status parse_records(struct nthu *nthu, const char *bytes, uint64_t wanted,
                                 uint64_t *ret_taken, struct problem *reterr)
{
    uint32_t vertex_count = (uint32_t)nthu->vertex_count;
    struct edge_i4 *edges;
    uint64_t count;
    uint64_t kept = 0;
    enum status status = graph_builder_offer(nthu->reader.builder, wanted, &edges, &count);

    if (status != STATUS_OK) {
        (void)reader_add_failed(&nthu->reader, status, reterr);
        return status;
    }
    for (uint64_t i = 0; i < count; i++, bytes += RECORD_SIZE) {
        struct edge_i4 *edge = &edges[kept];
        bool is_edge;

        *edge = (struct edge_i4){(uint32_t)get_i4(bytes), (uint32_t)get_i4(bytes + 4),
                                 get_i4(bytes + 8)};
        if (edge->source >= vertex_count || edge->target >= vertex_count) {
            return problem_set(reterr, STATUS_BAD_GRAPH,
                               "In record %llu the edge %d to %d leaves the vertices 0..%d.",
                               (unsigned long long)(nthu->records + i), (int32_t)edge->source,
                               (int32_t)edge->target, nthu->vertex_count - 1);
        }
        STATUS_TRY(reader_judge_value(&nthu->reader, edge->weight, &is_edge, reterr));
        kept += is_edge;
    }
    nthu->records += count;
    graph_builder_commit(nthu->reader.builder, kept);
    *ret_taken = count;
    return STATUS_OK;
}

static uint64_t records_left(const struct nthu *nthu)
{
    return (uint64_t)nthu->edge_count - nthu->records;
}

/* A header or record cut by the end of a piece is pending until it is whole; whole records are
 * taken in place. */
static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    struct nthu *nthu = (struct nthu *)reader;
    enum status status = STATUS_OK;

    while (size > 0 && status == STATUS_OK) {
        const size_t wanted = nthu->announced ? RECORD_SIZE : HEADER_SIZE;
        const size_t missing = wanted - nthu->pending_size;
        size_t part = missing < size ? missing : size;
        uint64_t taken = 0;

        if (nthu->announced && records_left(nthu) == 0) {
            return problem_set(
                reterr, STATUS_BAD_GRAPH,
                "There are bytes after the last of E=%d records: the length is not 8 + 12 E.",
                nthu->edge_count);
        }
        if (nthu->announced && nthu->pending_size == 0 && size >= RECORD_SIZE) {
            const uint64_t whole = size / RECORD_SIZE;
            const uint64_t left = records_left(nthu);

            status = parse_records(nthu, bytes, whole < left ? whole : left, &taken, reterr);
            part = taken * RECORD_SIZE;
        } else {
            memcpy(nthu->pending + nthu->pending_size, bytes, part);
            nthu->pending_size += part;
            if (nthu->pending_size == wanted) {
                nthu->pending_size = 0;
                status = nthu->announced ? parse_records(nthu, nthu->pending, 1, &taken, reterr)
                                         : parse_header(nthu, nthu->pending, reterr);
            }
        }
        bytes += part;
        size -= part;
    }
    return status;
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct nthu *nthu = (struct nthu *)reader;

    if (!nthu->announced) {
        return problem_set(reterr, STATUS_TRUNCATED,
                           "The header has 8 bytes, but only %zu were found.", nthu->pending_size);
    }
    if (records_left(nthu) > 0) {
        return problem_set(reterr, STATUS_TRUNCATED,
                           "The header announced E=%d records, but the body ends in record %llu.",
                           nthu->edge_count, (unsigned long long)nthu->records);
    }
    return reader_finish_range(reader, (uint32_t)nthu->vertex_count, 0, true, ret_graph, reterr);
}

const struct reader_class reader_nthu_class = {
    .size = sizeof(struct nthu),
    .feed = feed,
    .finish = finish,
};
