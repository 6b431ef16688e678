#include "server/http/api/serve.h"

#include <jansson.h>
#include <string.h>

static enum status parse_count(const json_t *value, const char *name, json_int_t most,
                               uint64_t *ret_count, struct problem *reterr)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > most) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "%s is an integer from 0 to %lld.", name,
                           (long long)most);
    }
    *ret_count = (uint64_t)json_integer_value(value);
    return STATUS_OK;
}

static enum status parse_member(const char *name, const json_t *value, struct call *call,
                                struct problem *reterr)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    uint64_t count = 0;

    if (strcmp(name, "graph") == 0) {
        if (text[0] == '\0' || strlen(text) >= sizeof(call->key)) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "graph is the id or the name of a stored graph.");
        }
        memcpy(call->key, text, strlen(text) + 1);
        return STATUS_OK;
    }
    if (strcmp(name, "kind") == 0) {
        return kind_from_name(text, &call->estimate.kind)
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "kind must be one of auto, i4, u2, f4, f8.");
    }
    if (strcmp(name, "m") == 0) {
        return parse_count(value, name, (json_int_t)1 << 48, &call->estimate.edge_count, reterr);
    }
    if (strcmp(name, "n") == 0) {
        STATUS_TRY(parse_count(value, name, UINT32_MAX - 1, &count, reterr));
        call->estimate.vertex_count = (uint32_t)count;
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "There is no member \"%s\" here.", name);
    problem_hint(reterr, "Known: graph, or n and m; kind.");
    return STATUS_UNKNOWN_PARAMETER;
}

static enum status parse_document(const struct request *request, struct call *call,
                                  struct problem *reterr)
{
    json_error_t error;
    enum status status = STATUS_OK;
    const char *name;
    json_t *value;
    json_t *document =
        json_loadb(request->document.bytes, request->document.size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        problem_set(reterr, STATUS_BAD_REQUEST, "The body is no JSON: %s.", error.text);
        problem_at(reterr, (uint64_t)(error.line > 0 ? error.line : 0),
                   (uint64_t)(error.column > 0 ? error.column : 0));
        return STATUS_BAD_REQUEST;
    }
    const bool has_graph = json_object_get(document, "graph") != NULL;
    const bool has_n = json_object_get(document, "n") != NULL;
    const bool has_m = json_object_get(document, "m") != NULL;

    if (!json_is_object(document) || has_graph == has_n || (has_graph && has_m)) {
        status = problem_set(reterr, STATUS_BAD_REQUEST, "The body is not %s.",
                             request->match.route->query->question);
    }
    json_object_foreach(document, name, value)
    {
        status = status == STATUS_OK ? parse_member(name, value, call, reterr) : status;
    }
    json_decref(document);
    return status;
}

void serve_estimate(struct request *request)
{
    struct call *call = request_create_call(request, CALL_ESTIMATE);
    struct problem problem;

    if (call == NULL) {
        return;
    }
    if (parse_document(request, call, &problem) == STATUS_OK) {
        request_call(request, request_answer_call);
    } else {
        request_refuse(request, &problem);
    }
}
