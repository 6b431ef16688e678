#include "server/http/request/job_request.h"

#include "proto/number.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define DEADLINE_LIMIT_S 31536000.0 /* a year */

const char *const job_request_graph_parameters[] = {"format", "directed", "weight",
                                                    "n",      "name",     NULL};
const char *const job_request_submit_parameters[] = {"format",     "directed", "weight", "kind",
                                                     "n",          "name",     "wait",   "priority",
                                                     "deadline_s", "verify",   NULL};

void job_request_init(struct job_request *request)
{
    *request = (struct job_request){.wait_s = -1};
}

static enum status bad(struct problem *reterr, const char *words)
{
    return problem_set(reterr, STATUS_BAD_PARAMETER, "%s", words);
}

/* Ids start with g_ or j_: an alias must not be taken for one. */
static enum status set_name(const char *name, struct job_request *request, struct problem *reterr)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t size = strlen(name);

    if (size == 0 || size >= NAME_SIZE || strspn(name, letters) != size ||
        strncmp(name, "g_", 2) == 0 || strncmp(name, "j_", 2) == 0) {
        return bad(reterr, "name is 1 to 127 letters, digits, dots, underscores and dashes, "
                           "and does not start with g_ or j_.");
    }
    memcpy(request->parameters.name, name, size + 1);
    return STATUS_OK;
}

static enum status set_kind(const char *name, struct job_request *request, struct problem *reterr)
{
    if (!kind_from_name(name, &request->parameters.kind)) {
        return bad(reterr, "kind is one of auto, i4, u2, f4, f8.");
    }
    return STATUS_OK;
}

static enum status set_format(const char *name, struct job_request *request, struct problem *reterr)
{
    enum format format = format_from_name(name);

    if (format == FORMAT_NONE || !format_info(format)->graph_input) {
        return bad(reterr, "format is none that is read here; GET /v1/formats lists them.");
    }
    request->format = format;
    return STATUS_OK;
}

static enum status set_weight(const char *name, struct job_request *request, struct problem *reterr)
{
    if (name[0] == '\0' || strlen(name) >= sizeof(request->options.weight)) {
        return bad(reterr, "weight is the name of a column or attribute, 1 to 63 bytes.");
    }
    memcpy(request->options.weight, name, strlen(name) + 1);
    return STATUS_OK;
}

/* Applies a setter to a parameter that is given. */
static enum status set(const struct query *query, const char *name,
                       enum status (*setter)(const char *value, struct job_request *request,
                                             struct problem *reterr),
                       struct job_request *request, struct problem *reterr)
{
    const char *value = query_value(query, name);

    return value == NULL ? STATUS_OK : setter(value, request, reterr);
}

static enum status graph_part(const struct query *query, struct job_request *request,
                              struct problem *reterr)
{
    int64_t vertex_count = 0;
    enum status status = set(query, "format", set_format, request, reterr);

    if (status == STATUS_OK) {
        status = set(query, "weight", set_weight, request, reterr);
    }
    if (status == STATUS_OK) {
        status = set(query, "name", set_name, request, reterr);
    }
    if (status == STATUS_OK) {
        status = query_flag(query, "directed", &request->options.directed, reterr);
    }
    if (status == STATUS_OK) {
        status = query_integer(query, "n", 0, UINT32_MAX - 1, &vertex_count, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    request->options.has_directed = query_value(query, "directed") != NULL;
    request->options.has_vertex_count = query_value(query, "n") != NULL;
    request->options.vertex_count = (uint32_t)vertex_count;
    return STATUS_OK;
}

enum status job_request_from_query(const struct query *query, double wait_limit_s,
                                   struct job_request *request, struct problem *reterr)
{
    int64_t priority = request->parameters.priority;
    enum status status = graph_part(query, request, reterr);

    if (status == STATUS_OK) {
        status = set(query, "kind", set_kind, request, reterr);
    }
    if (status == STATUS_OK) {
        status = query_integer(query, "priority", 0, 9, &priority, reterr);
    }
    if (status == STATUS_OK) {
        status = query_seconds(query, "deadline_s", DEADLINE_LIMIT_S,
                               &request->parameters.deadline_s, reterr);
    }
    if (status == STATUS_OK) {
        status = query_flag(query, "verify", &request->parameters.verify, reterr);
    }
    if (status == STATUS_OK) {
        status = query_seconds(query, "wait", wait_limit_s, &request->wait_s, reterr);
    }
    if (status == STATUS_OK) {
        request->parameters.priority = (int)priority;
    }
    return status;
}

static enum status number_in(const json_t *value, const char *name, double most, double *ret_number,
                             struct problem *reterr)
{
    if (!json_is_number(value) || json_number_value(value) < 0 || json_number_value(value) > most) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "%s is a number from 0 to %.10g.", name,
                           most);
    }
    *ret_number = json_number_value(value);
    return STATUS_OK;
}

static enum status set_key(const json_t *value, struct job_request *request, struct problem *reterr)
{
    const char *key = json_string_value(value);

    if (key == NULL || key[0] == '\0' || strlen(key) >= RESULT_KEY_SIZE) {
        return bad(reterr, "graph is the id or the name of a stored graph.");
    }
    memcpy(request->key, key, strlen(key) + 1);
    return STATUS_OK;
}

static enum status set_priority(const json_t *value, struct job_request *request,
                                struct problem *reterr)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 9) {
        return bad(reterr, "priority is an integer from 0 to 9.");
    }
    request->parameters.priority = (int)json_integer_value(value);
    return STATUS_OK;
}

static enum status set_member(const char *name, const json_t *value, double wait_limit_s,
                              struct job_request *request, struct problem *reterr)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    if (strcmp(name, "graph") == 0) {
        return set_key(value, request, reterr);
    }
    if (strcmp(name, "kind") == 0) {
        return set_kind(text, request, reterr);
    }
    if (strcmp(name, "name") == 0) {
        return set_name(text, request, reterr);
    }
    if (strcmp(name, "priority") == 0) {
        return set_priority(value, request, reterr);
    }
    if (strcmp(name, "deadline_s") == 0) {
        return number_in(value, name, DEADLINE_LIMIT_S, &request->parameters.deadline_s, reterr);
    }
    if (strcmp(name, "wait") == 0) {
        return number_in(value, name, wait_limit_s, &request->wait_s, reterr);
    }
    if (strcmp(name, "verify") != 0) {
        problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "There is no member \"%s\" here.", name);
        problem_hint(reterr, "Known: graph, kind, name, priority, deadline_s, wait, verify.");
        return STATUS_UNKNOWN_PARAMETER;
    }
    if (!json_is_boolean(value)) {
        return bad(reterr, "verify is true or false.");
    }
    request->parameters.verify = json_is_true(value);
    return STATUS_OK;
}

enum status job_request_from_document(const struct json_t *document, double wait_limit_s,
                                      struct job_request *request, struct problem *reterr)
{
    /* jansson's iterators want a pointer to non-const, and change nothing. */
    json_t *object = (json_t *)(uintptr_t)document;

    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        enum status status = set_member(json_object_iter_key(at), json_object_iter_value(at),
                                        wait_limit_s, request, reterr);

        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

bool job_request_is_idempotency_key(const char *text)
{
    size_t size = strlen(text);

    for (size_t i = 0; i < size; i++) {
        if (text[i] <= 0x20 || text[i] >= 0x7F) {
            return false;
        }
    }
    return size > 0 && size < IDEMPOTENCY_KEY_SIZE;
}
