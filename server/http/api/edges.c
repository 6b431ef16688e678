#include "server/http/api/serve.h"

#include "proto/graph.h"
#include "proto/write/writer.h"
#include "server/store/graph_file.h"

#include <inttypes.h>

struct edge_walk {
    struct graph *graph;
    uint32_t row; /* source of the next edge */
};

static void close_walk(void *context)
{
    graph_destroy(((struct edge_walk *)context)->graph);
}

/* Appends an edge; stream->position is its number. */
static bool make_edge(struct stream *stream, struct text *text)
{
    struct edge_walk *walk = (void *)stream->context;
    const struct graph *graph = walk->graph;
    const uint64_t edge = stream->position;
    if (edge == 0) {
        text_printf(text, "{\"n\":%" PRIu32 ",\"m\":%" PRIu64 ",\"directed\":%s,\"edges\":[",
                    graph->vertex_count, graph->edge_count, graph->directed ? "true" : "false");
    }
    if (edge == graph->edge_count) {
        text_append_string(text, "]}\n");
        return false;
    }
    while (graph->row_offset[walk->row + 1] <= edge) {
        walk->row++;
    }
    text_append_string(text, edge > 0 ? ",[" : "[");
    writer_append_vertex(text, graph->names, walk->row);
    text_append_char(text, ',');
    writer_append_vertex(text, graph->names, graph->target[edge]);
    text_append_char(text, ',');
    writer_append_real(text, graph_weight(graph, edge), false);
    text_append_char(text, ']');
    stream->position++;
    return true;
}

/* Reads the graph on this thread; this is fast enough because of SERVE_EDGE_LIMIT. */
static enum status open_walk(struct stream *stream, struct problem *reterr)
{
    const int folder = store_folder(stream->request->http_context->store, STORE_GRAPHS);
    const char *id = stream->request->call->graph_id;
    struct edge_walk *walk = (void *)stream->context;
    uint64_t count;
    size_t bytes;
    enum status status = graph_file_sizes(folder, id, &count, &bytes);
    if (status == STATUS_OK && count > SERVE_EDGE_LIMIT) {
        return problem_refuse_limit(reterr, STATUS_TOO_LARGE, SERVE_EDGE_LIMIT, (double)count, NULL,
                                    "The graph has more edges than this route returns.");
    }
    STATUS_THEN(status, graph_file_read(folder, id, &walk->graph));
    return problem_explain(reterr, status, "The stored graph cannot be read.");
}

const struct stream_kind serve_edges = {.context_size = sizeof(struct edge_walk),
                                        .open = open_walk,
                                        .close = close_walk,
                                        .make = make_edge};
