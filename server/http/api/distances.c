#include "server/http/api/serve.h"

#include "proto/write/writer.h"

#include <string.h>

enum status serve_distances_ends(const struct request *request, uint32_t ret_rows[2],
                                 struct problem *reterr)
{
    static const char *const ends[] = {"source", "target"};
    for (int i = 0; i < 2; i++) {
        const char *name = query_value(&request->query, ends[i]);
        STATUS_TRY(vertex_names_require(result_names(request->result), name, strlen(name),
                                        &ret_rows[i], reterr));
    }
    return STATUS_OK;
}

void serve_distances_one(struct request *request)
{
    const struct result *result = request->result;
    const bool plain = request->offer == 1;
    struct text text = {0};
    uint32_t rows[2];
    if (serve_distances_ends(request, rows, &request->refusal) != STATUS_OK) {
        request_refuse(request);
        return;
    }
    if (plain) {
        result_append_distance(result, rows[0], rows[1], &text);
        if (text.size == 4 && memcmp(text.bytes, "null", 4) == 0) {
            text_clear(&text);
            text_append_string(&text, "unreachable");
        }
        text_append_char(&text, '\n');
    } else {
        text_append_string(&text, "{\"source\":");
        writer_append_vertex(&text, result_names(result), rows[0]);
        text_append_string(&text, ",\"target\":");
        writer_append_vertex(&text, result_names(result), rows[1]);
        text_append_string(&text, ",\"distance\":");
        result_append_distance(result, rows[0], rows[1], &text);
        text_append_string(&text, "}\n");
    }
    if (text_status(&text) != STATUS_OK) {
        request_refuse_with(request, STATUS_NO_MEMORY,
                            "There is not enough memory for the response.", NULL);
    } else if (!request_tag(request, result_etag(result), plain ? "text" : "json")) {
        request_answer_text(request, MHD_HTTP_OK, request->match.route->offers[request->offer],
                            &text);
    }
    text_finish(&text);
}
