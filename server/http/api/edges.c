#include "server/http/api/serve.h"

#include "proto/graph.h"
#include "proto/write/writer.h"
#include "server/http/transport/stream.h"
#include "server/store/graph_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The state of one streamed list of edges. */
struct edge_walk {
    struct graph *graph;
    uint32_t row; /* of the next edge */
};

static void destroy_walk(void *context)
{
    struct edge_walk *walk = context;
    graph_destroy(walk->graph);
    free(walk);
}

/* position counts edges. */
static bool make_edge(struct stream *stream, struct text *text)
{
    struct edge_walk *walk = stream->plan.context;
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

/* ---- The route ---- */

static enum status create_walk(int folder, const char *id, struct edge_walk **ret_walk,
                               struct problem *reterr)
{
    uint64_t count;
    size_t bytes;
    struct edge_walk *walk = calloc(1, sizeof(*walk));
    enum status status =
        walk == NULL ? STATUS_NO_MEMORY : graph_file_sizes(folder, id, &count, &bytes);
    if (status == STATUS_OK && count > SERVE_EDGE_LIMIT) {
        free(walk);
        problem_set(reterr, STATUS_TOO_LARGE, "The graph has more edges than this route returns.");
        problem_limit(reterr, SERVE_EDGE_LIMIT, (double)count);
        return STATUS_TOO_LARGE;
    }
    if (status == STATUS_OK) {
        status = graph_file_read(folder, id, &walk->graph);
    }
    if (status != STATUS_OK) {
        free(walk);
        return problem_set(reterr, status, "The stored graph cannot be read.");
    }
    *ret_walk = walk;
    return STATUS_OK;
}

/* So few edges are read at once: the thread does it itself. */
static void graph_asked(struct request *request)
{
    const struct call *call = request->call;
    struct edge_walk *walk = NULL;
    struct problem problem;
    if (call->status != STATUS_OK) {
        request_answer_call(request);
    } else if (create_walk(store_folder(request->http_context->store, STORE_GRAPHS), call->graph_id,
                           &walk, &problem) == STATUS_OK) {
        stream_answer(request, &(struct stream_plan){.media_type = "application/json",
                                                     .context = walk,
                                                     .destroy = destroy_walk,
                                                     .make = make_edge});
    } else {
        request_refuse(request, &problem);
    }
}

void serve_edges(struct request *request)
{
    if (request_create_call(request, CALL_GRAPH) != NULL) {
        request_negotiate(request, false);
        request_vary(request);
        request_call(request, graph_asked);
    }
}
