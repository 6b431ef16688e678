/* The coursework binary: little-endian int32 V, E, then E times source, target, weight with
 * vertices 0..V-1. No lines: problems name the record. */
#include "proto/read/reader.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 8
#define RECORD_SIZE 12

struct nthu {
    struct reader reader;
    struct graph_options options;
    struct graph_builder *builder;
    bool announced;
    int32_t vertex_count;
    int32_t edge_count;
    char pending[RECORD_SIZE]; /* a record, or the header, cut by the end of a piece */
    size_t pending_size;
};

static int32_t get_i4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return (int32_t)le32toh(value);
}

static enum status take_header(struct nthu *nthu, const char *bytes, struct problem *reterr)
{
    const struct graph_options *options = &nthu->options;
    enum status status;

    nthu->vertex_count = get_i4(bytes);
    nthu->edge_count = get_i4(bytes + 4);
    if (nthu->vertex_count < 0 || nthu->edge_count < 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The header says V=%d vertices and E=%d edges: is this the format?",
                           nthu->vertex_count, nthu->edge_count);
    }
    if (options->has_vertex_count && options->vertex_count != (uint32_t)nthu->vertex_count) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "The parameter n is %u, but the header says V=%d.",
                           options->vertex_count, nthu->vertex_count);
    }
    status = reader_admit_weight_name(options, reterr);
    if (status == STATUS_OK) {
        status = graph_builder_admit(nthu->builder, (uint64_t)nthu->vertex_count, reterr);
    }
    if (status == STATUS_OK) {
        status = reader_admit_edges(options, (uint64_t)nthu->edge_count, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    graph_builder_expect(nthu->builder, (uint64_t)nthu->edge_count);
    nthu->announced = true;
    memcpy(nthu->reader.notes.weight, READER_WEIGHT_VALUE, sizeof(READER_WEIGHT_VALUE));
    nthu->reader.notes.says_direction = true;
    return STATUS_OK;
}

static enum status refuse_edge(const struct nthu *nthu, const struct edge_i4 *edge, uint64_t index,
                               struct problem *reterr)
{
    return problem_set(reterr, STATUS_BAD_GRAPH,
                       "In record %llu the edge %d to %d leaves the vertices 0..%d.",
                       (unsigned long long)index, (int32_t)edge->source, (int32_t)edge->target,
                       nthu->vertex_count - 1);
}

/* As many whole records as there is room for at once. A negative vertex is a large one here. */
static enum status take_records(struct nthu *nthu, const char *bytes, uint64_t wanted,
                                uint64_t *ret_taken, struct problem *reterr)
{
    uint64_t index = graph_builder_edge_count(nthu->builder);
    uint32_t vertex_count = (uint32_t)nthu->vertex_count;
    struct edge_i4 *edges;
    uint64_t count;
    enum status status = graph_builder_offer(nthu->builder, wanted, &edges, &count);

    if (status != STATUS_OK) {
        (void)reader_add_failed(status, &nthu->options, reterr);
        return status;
    }
    for (uint64_t i = 0; i < count; i++, bytes += RECORD_SIZE) {
        edges[i].source = (uint32_t)get_i4(bytes);
        edges[i].target = (uint32_t)get_i4(bytes + 4);
        edges[i].weight = get_i4(bytes + 8);
        if (edges[i].source >= vertex_count || edges[i].target >= vertex_count) {
            return refuse_edge(nthu, &edges[i], index + i, reterr);
        }
    }
    graph_builder_commit(nthu->builder, count);
    *ret_taken = count;
    return STATUS_OK;
}

static uint64_t records_left(const struct nthu *nthu)
{
    return (uint64_t)nthu->edge_count - graph_builder_edge_count(nthu->builder);
}

static bool is_complete(const struct nthu *nthu)
{
    return nthu->announced && records_left(nthu) == 0;
}

/* Fills what is pending from the piece and takes it once it is whole. */
static enum status take_pending(struct nthu *nthu, const char **bytes, size_t *size,
                                struct problem *reterr)
{
    size_t wanted = nthu->announced ? RECORD_SIZE : HEADER_SIZE;
    size_t part = wanted - nthu->pending_size;
    uint64_t taken;

    if (part > *size) {
        part = *size;
    }
    memcpy(nthu->pending + nthu->pending_size, *bytes, part);
    nthu->pending_size += part;
    *bytes += part;
    *size -= part;
    if (nthu->pending_size < wanted) {
        return STATUS_OK;
    }
    nthu->pending_size = 0;
    return nthu->announced ? take_records(nthu, nthu->pending, 1, &taken, reterr)
                           : take_header(nthu, nthu->pending, reterr);
}

/* The whole records at the beginning of the piece. */
static enum status take_whole(struct nthu *nthu, const char **bytes, size_t *size,
                              struct problem *reterr)
{
    uint64_t wanted = *size / RECORD_SIZE;
    uint64_t taken = 0;
    enum status status;

    if (wanted > records_left(nthu)) {
        wanted = records_left(nthu);
    }
    status = take_records(nthu, *bytes, wanted, &taken, reterr);
    *bytes += taken * RECORD_SIZE;
    *size -= taken * RECORD_SIZE;
    return status;
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    struct nthu *nthu = (struct nthu *)reader;
    enum status status = STATUS_OK;

    while (size > 0 && status == STATUS_OK) {
        if (is_complete(nthu)) {
            return problem_set(
                reterr, STATUS_BAD_GRAPH,
                "There are bytes after the last of E=%d records: the length is not 8 + 12 E.",
                nthu->edge_count);
        }
        if (nthu->announced && nthu->pending_size == 0 && size >= RECORD_SIZE) {
            status = take_whole(nthu, &bytes, &size, reterr);
        } else {
            status = take_pending(nthu, &bytes, &size, reterr);
        }
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
    if (!is_complete(nthu)) {
        return problem_set(reterr, STATUS_TRUNCATED,
                           "The header announced E=%d records, but the body ends in record %llu.",
                           nthu->edge_count,
                           (unsigned long long)graph_builder_edge_count(nthu->builder));
    }
    return reader_finish_range(nthu->builder, (uint32_t)nthu->vertex_count, 0, true, ret_graph,
                               reterr);
}

static void destroy(struct reader *reader)
{
    struct nthu *nthu = (struct nthu *)reader;

    graph_builder_destroy(nthu->builder);
    free(nthu);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct nthu *nthu = calloc(1, sizeof(*nthu));

    if (nthu == NULL) {
        return STATUS_NO_MEMORY;
    }
    nthu->options = *options;
    if (graph_builder_create(options, &nthu->builder) != STATUS_OK) {
        destroy(&nthu->reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = &nthu->reader;
    return STATUS_OK;
}

const struct reader_class reader_nthu_class = {
    .format = FORMAT_NTHU,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
