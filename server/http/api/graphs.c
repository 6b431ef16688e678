#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/transport/stream.h"
#include "server/store/graph_file.h"

#include <jansson.h>
#include <string.h>

void serve_graphs_store(struct request *request)
{
    struct call *call = request_create_call(request, CALL_STORE_GRAPH);
    struct json_t *document = NULL;
    struct problem problem;
    if (call == NULL) {
        return;
    }
    /* Without a document limit there is no document. */
    if (upload_end(&request->upload, &call->submit.reader, &document, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    call->submit.share = upload_memory_move(&request->upload.share);
    call->submit.parse_s = request->upload.parse_s;
    upload_report(&request->upload, &call->submit.input);
    call->submit.parameters = request->job_request.parameters;
    request_call(request, request_answer_call);
}

static void ask_about(struct request *request, enum call_kind kind,
                      void (*resume)(struct request *request))
{
    if (request_create_call(request, kind) != NULL) {
        request_call(request, resume);
    }
}

/* The tag is the id: for a change that is to be made to this graph and to no other. Names and jobs
 * change under one tag, so no cache may keep the document. */
static void show_graph(struct request *request)
{
    if (request->call->status == STATUS_OK) {
        request_set_header(request, MHD_HTTP_HEADER_ETAG, "\"%s\"", request->call->graph_id);
        request_set_header(request, "Cache-Control", "no-store");
    }
    request_answer_call(request);
}

void serve_graphs_show(struct request *request)
{
    ask_about(request, CALL_GRAPH, show_graph);
}

void serve_graphs_delete(struct request *request)
{
    ask_about(request, CALL_DELETE_GRAPH, request_answer_call);
}

static void destroy_names(void *context)
{
    vertex_names_destroy(context);
}

/* The context are the names of a stored graph, where there is no result that has them. */
static bool make_vertex(struct stream *stream, struct text *text)
{
    const struct vertex_names *names =
        stream->plan.context != NULL ? stream->plan.context : result_names(stream->result);
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

struct vertex_names *serve_graphs_read_names(struct request *request)
{
    const struct call *call = request->call;
    struct vertex_names *names = NULL;
    if (call->status != STATUS_OK) {
        request_answer_call(request);
        return NULL;
    }
    const enum status status = graph_file_read_names(
        store_folder(request->http_context->store, STORE_GRAPHS), call->graph_id, &names);
    if (status == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(request->http_context->scheduler, call->graph_id);
    }
    if (status != STATUS_OK) {
        request_refuse_with(request, status, "The stored graph cannot be read.", NULL);
    }
    return names;
}

static void list_vertices(struct request *request)
{
    struct vertex_names *names = serve_graphs_read_names(request);
    if (names != NULL) {
        stream_answer(request, &(struct stream_plan){.media_type = "application/json",
                                                     .context = names,
                                                     .destroy = destroy_names,
                                                     .make = make_vertex});
    }
}

void serve_graphs_vertices(struct request *request)
{
    request_negotiate(request, false);
    request_vary(request);
    request->result = request_look_up(request);
    if (request->result != NULL) {
        stream_answer(request,
                      &(struct stream_plan){.media_type = "application/json", .make = make_vertex});
    } else {
        ask_about(request, CALL_GRAPH, list_vertices);
    }
}
