#include "server/http/serve.h"

#include "proto/writer.h"
#include "server/http/intake.h"
#include "server/http/stream.h"
#include "server/store/graph_file.h"

#include <jansson.h>
#include <string.h>

enum status serve_graphs_prepare(struct exchange *exchange, struct problem *reterr)
{
    return intake_open(exchange, false, reterr);
}

void serve_graphs_store(struct exchange *exchange)
{
    struct ask *ask = exchange_create_ask(exchange, ASK_STORE_GRAPH);
    struct json_t *document = NULL;
    struct problem problem;

    if (ask == NULL) {
        return;
    }
    /* Without a document limit there is no document. */
    if (upload_end(&exchange->upload, &ask->reader, &document, &problem) != STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    ask->share = upload_take_share(&exchange->upload);
    ask->stream = upload_take_stream(&exchange->upload);
    ask->parse_s = exchange->upload.parse_s;
    upload_report(&exchange->upload, &ask->input);
    ask->parameters = exchange->request.parameters;
    exchange_ask(exchange, exchange_answer_ask);
}

static void ask_about(struct exchange *exchange, enum ask_kind kind,
                      void (*resume)(struct exchange *exchange))
{
    struct ask *ask = exchange_create_ask(exchange, kind);

    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    exchange_ask(exchange, resume);
}

void serve_graphs_show(struct exchange *exchange)
{
    ask_about(exchange, ASK_GRAPH, exchange_answer_ask);
}

void serve_graphs_delete(struct exchange *exchange)
{
    ask_about(exchange, ASK_DELETE_GRAPH, exchange_answer_ask);
}

static bool make_vertex(struct stream *stream, struct text *text)
{
    const struct vertex_names *names =
        stream->stored_names != NULL ? stream->stored_names : result_names(stream->result);
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

/* Names are small beside the edges that follow them in the file: the thread reads them itself. */
static void graph_asked(struct exchange *exchange)
{
    const struct ask *ask = exchange->ask;
    struct vertex_names *names = NULL;
    struct problem problem;
    enum status status;

    if (ask->status != STATUS_OK) {
        exchange_answer_ask(exchange);
        return;
    }
    status =
        graph_file_read_names(store_graph_folder(exchange->house->store), ask->graph_id, &names);
    if (status == STATUS_OK) {
        stream_answer_names(exchange, "application/json", names, make_vertex);
        return;
    }
    problem_set(&problem, status, "The stored graph cannot be read.");
    exchange_refuse(exchange, &problem);
}

void serve_graphs_vertices(struct exchange *exchange)
{
    exchange_negotiate(exchange, false);
    exchange_vary(exchange);
    exchange->result = exchange_look_up(exchange);
    if (exchange->result != NULL) {
        stream_answer(exchange, "application/json", make_vertex);
    } else {
        ask_about(exchange, ASK_GRAPH, graph_asked);
    }
}
