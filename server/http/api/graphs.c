#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/transport/stream.h"
#include "server/store/graph_file.h"

#include <jansson.h>
#include <string.h>

void serve_graphs_store(struct request *request)
{
    struct call *call = request_create_call(request, CALL_STORE_GRAPH);
    struct json_t *document = NULL; /* stays NULL: document_limit_bytes is 0 for this route */
    struct problem problem;
    if (call == NULL) {
        return;
    }
    if (serve_jobs_fill(request, call, &document, &problem) == STATUS_OK) {
        call->submit.parameters = request->job_request.parameters;
        request_call(request, request_answer_call);
    } else {
        request_refuse(request, &problem);
    }
}

/* Answers with the graph's description. The ETag is the graph's ID: If-Match restricts a change to
 * this graph. Names and jobs change under the same ETag, so caches must not store the answer. */
void serve_graphs_show(struct request *request)
{
    request_set_header(request, MHD_HTTP_HEADER_ETAG, "\"%s\"", request->call->graph_id);
    request_set_header(request, "Cache-Control", "no-store");
    request_answer_call(request);
}

void serve_graphs_delete(struct request *request)
{
    request_ask(request, CALL_DELETE_GRAPH);
}

/* Reads the names of a stored graph that has no result. */
static enum status open_names(struct stream *stream, struct problem *reterr)
{
    return stream->result != NULL
               ? STATUS_OK
               : serve_graphs_read_names(stream->request, (void *)stream->context, reterr);
}

static void close_names(void *context)
{
    vertex_names_destroy(*(struct vertex_names **)context);
}

static bool make_vertex(struct stream *stream, struct text *text)
{
    const struct vertex_names *names = stream->result != NULL
                                           ? result_names(stream->result)
                                           : *(struct vertex_names **)(void *)stream->context;
    uint32_t row = (uint32_t)stream->position;
    if (row == 0) {
        text_append_string(text, "{\"vertices\":[");
    }
    if (row < vertex_names_count(names)) {
        if (row > 0) {
            text_append_char(text, ',');
        }
        writer_append_vertex(text, names, row);
        stream->position++;
        return true;
    }
    text_append_string(text, "]}\n");
    return false;
}

enum status serve_graphs_read_names(const struct request *request, struct vertex_names **ret_names,
                                    struct problem *reterr)
{
    const char *id = request->call->graph_id;
    const enum status status = graph_file_read_names(
        store_folder(request->http_context->store, STORE_GRAPHS), id, ret_names);
    if (status == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(request->http_context->scheduler, id);
    }
    return status == STATUS_OK ? status
                               : problem_set(reterr, status, "The stored graph cannot be read.");
}

static void list_vertices(struct request *request)
{
    static const struct stream_kind kind = {.context_size = sizeof(struct vertex_names *),
                                            .open = open_names,
                                            .close = close_names,
                                            .make = make_vertex};
    stream_answer(request, &kind);
}

void serve_graphs_vertices(struct request *request)
{
    request->result = request_look_up(request);
    if (request->result != NULL) {
        list_vertices(request);
    } else {
        request_find_graph(request, list_vertices);
    }
}
