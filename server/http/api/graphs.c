#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/transport/stream.h"

/* Sends the graph's description. The ETag is the graph's ID, so that If-Match can restrict a change
 * to this graph. The names and jobs may change while the ETag stays the same, so caches must not
 * store the answer. */
void serve_graphs_show(struct request *request)
{
    request_set_header(request, MHD_HTTP_HEADER_ETAG, "\"%s\"", request->call->graph_id);
    request_set_header(request, "Cache-Control", "no-store");
    request_answer_call(request);
}

static bool make_vertex(struct stream *stream, struct text *text)
{
    const struct vertex_names *names = stream->request->names;
    const uint32_t row = (uint32_t)stream->position++;
    text_append_string(text, row == 0 ? "{\"vertices\":[" : "");
    if (row == vertex_names_count(names)) {
        text_append_string(text, "]}\n");
        return false;
    }
    text_append(text, ",", row > 0);
    writer_append_vertex(text, names, row);
    return true;
}

const struct stream_kind serve_vertices = {.make = make_vertex};
