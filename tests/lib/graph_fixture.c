#include "tests/lib/graph_fixture.h"

#include "tests/lib/test.h"

/* Returns the size of the next piece of the input: `piece` bytes, or random if `piece` is 0. */
static size_t next_piece(size_t piece, uint64_t *seed, size_t left)
{
    size_t size = piece;

    if (piece == 0) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        size = 1 + (*seed >> 33) % 17;
    }
    return size < left ? size : left;
}

static enum status feed_copy(struct reader *reader, const char *bytes, size_t size,
                             struct problem *reterr)
{
    char *copy = malloc(size + (size == 0));
    enum status status;

    if (copy == NULL)
        abort();
    memcpy(copy, bytes, size);
    status = reader_feed(reader, copy, size, reterr);
    free(copy);
    return status;
}

enum status read_graph(enum format format, const struct graph_options *options, const char *bytes,
                       size_t size, size_t piece, struct graph **ret_graph, struct problem *reterr)
{
    struct reader *reader = NULL;
    uint64_t seed = size;
    enum status status = reader_create(format, options, &reader);

    for (size_t at = 0; at < size && status == STATUS_OK;) {
        size_t length = next_piece(piece, &seed, size - at);

        status = feed_copy(reader, bytes + at, length, reterr);
        at += length;
    }
    if (status == STATUS_OK)
        status = reader_finish(reader, ret_graph, reterr);
    reader_destroy(reader);
    return status;
}

enum status read_graph_cut(enum format format, const struct graph_options *options,
                           const char *bytes, size_t size, size_t cut, struct graph **ret_graph,
                           struct problem *reterr)
{
    struct reader *reader = NULL;
    enum status status = reader_create(format, options, &reader);

    if (status == STATUS_OK)
        status = feed_copy(reader, bytes, cut, reterr);
    if (status == STATUS_OK)
        status = feed_copy(reader, bytes + cut, size - cut, reterr);
    if (status == STATUS_OK)
        status = reader_finish(reader, ret_graph, reterr);
    reader_destroy(reader);
    return status;
}

static bool same_names(const struct graph *a, const struct graph *b)
{
    for (uint32_t row = 0; row < a->vertex_count; row++) {
        char buffers[2][VERTEX_NAME_BUFFER];
        size_t sizes[2];
        const char *x = vertex_names_get(a->names, row, buffers[0], &sizes[0]);
        const char *y = vertex_names_get(b->names, row, buffers[1], &sizes[1]);

        if (sizes[0] != sizes[1] || memcmp(x, y, sizes[0]) != 0)
            return false;
    }
    return vertex_names_numeric(a->names) == vertex_names_numeric(b->names);
}

enum status read_text_with(enum format format, const char *text,
                           const struct graph_options *options, struct graph **ret_graph,
                           struct problem *reterr)
{
    return read_graph(format, options, text, strlen(text), 5, ret_graph, reterr);
}

struct graph *read_text(enum format format, const char *text)
{
    const struct graph_options options = {0};
    struct graph *graph = NULL;
    assert_int_equal(read_text_with(format, text, &options, &graph, NULL), STATUS_OK);
    return graph;
}

bool same_graph(const struct graph *a, const struct graph *b)
{
    if (a->vertex_count != b->vertex_count || a->edge_count != b->edge_count ||
        a->directed != b->directed || a->weight_type != b->weight_type)
        return false;
    for (uint32_t v = 0; v <= a->vertex_count; v++) {
        if (a->row_offset[v] != b->row_offset[v])
            return false;
    }
    for (uint64_t e = 0; e < a->edge_count; e++) {
        if (a->target[e] != b->target[e] || graph_weight(a, e) != graph_weight(b, e))
            return false;
    }
    return same_names(a, b) && a->summary.edges_read == b->summary.edges_read &&
           a->summary.components == b->summary.components;
}
