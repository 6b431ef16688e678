#include "server/http/api/serve.h"

#include <string.h>

/* An endpoint of a distance query: its source or its target. */
struct end {
    const char *name;
    size_t name_size;
    uint32_t row;
};

static enum status find_end(const struct request *request, const char *parameter,
                            struct end *ret_end, struct problem *reterr)
{
    ret_end->name = query_value(&request->query, parameter);
    ret_end->name_size = strlen(ret_end->name);
    return vertex_names_require(result_names(request->result), ret_end->name, ret_end->name_size,
                                &ret_end->row, reterr);
}

/* Appends the name from the query. It equals the stored name: only exact names find a vertex. */
static void append_name(const struct result *result, const struct end *end, struct text *text)
{
    if (vertex_names_numeric(result_names(result))) {
        text_append(text, end->name, end->name_size);
    } else {
        text_append_json_string(text, end->name, end->name_size);
    }
}

void serve_distances_one(struct request *request)
{
    const struct result *result = request->result;
    const bool plain = request->offer == 1;
    struct text *text = &request->line;
    struct problem problem;
    struct end source;
    struct end target;
    if (find_end(request, "source", &source, &problem) != STATUS_OK ||
        find_end(request, "target", &target, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    text_clear(text);
    if (plain) {
        result_append_distance(result, source.row, target.row, text);
        if (text->size == 4 && memcmp(text->bytes, "null", 4) == 0) {
            text_clear(text);
            text_append_string(text, "unreachable");
        }
        text_append_char(text, '\n');
        request_answer_small(request, "text", "text/plain", text);
        return;
    }
    text_append_string(text, "{\"source\":");
    append_name(result, &source, text);
    text_append_string(text, ",\"target\":");
    append_name(result, &target, text);
    text_append_string(text, ",\"distance\":");
    result_append_distance(result, source.row, target.row, text);
    text_append_string(text, "}\n");
    request_answer_small(request, "json", "application/json", text);
}
