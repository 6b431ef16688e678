#include "server/http/request/query.h"

#include "proto/number.h"
#include "proto/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define DEADLINE_LIMIT_S 31536000.0 /* a year */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

bool query_decode(char *text)
{
    char *to = strchr(text, '%');

    if (to == NULL) {
        return true;
    }
    for (const char *at = to; *at != '\0'; at++) {
        if (*at == '%') {
            int high = digit_of(at[1]);
            int low = high < 0 ? -1 : digit_of(at[2]);

            if (low < 0 || high + low == 0) {
                return false;
            }
            *to++ = (char)(high * 16 + low);
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return true;
}

static bool decode_form(char *text)
{
    for (char *at = strchr(text, '+'); at != NULL; at = strchr(at, '+')) {
        *at = ' ';
    }
    return query_decode(text);
}

/* escaped: there may be something to decode. */
static enum status add(struct query *query, char *piece, bool escaped, struct problem *reterr)
{
    char *value = strchr(piece, '=');

    if (value != NULL) {
        *value++ = '\0';
    }
    if (escaped && (!decode_form(piece) || (value != NULL && !decode_form(value)))) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "The query has a broken percent escape, or %%00.");
    }
    if (query_value(query, piece) != NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter \"%s\" is given twice.",
                           piece);
    }
    if (query->count == QUERY_LIMIT) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "The query has more than %d parameters.",
                           QUERY_LIMIT);
    }
    query->parameters[query->count++] =
        (struct query_parameter){.name = piece, .value = value != NULL ? value : ""};
    return STATUS_OK;
}

enum status query_parse(char *text, struct query *ret_query, struct problem *reterr)
{
    const bool escaped = text != NULL && (strchr(text, '%') != NULL || strchr(text, '+') != NULL);
    struct query query;
    char *rest = text;

    query.count = 0;
    while (rest != NULL) {
        char *piece = rest;

        rest = strchr(piece, '&');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        if (piece[0] == '\0') {
            continue;
        }
        STATUS_TRY(add(&query, piece, escaped, reterr));
    }
    memcpy(ret_query->parameters, query.parameters, query.count * sizeof(query.parameters[0]));
    ret_query->count = query.count;
    return STATUS_OK;
}

/* The first letter tells mostly. */
static bool is_same(const char *name, const char *other)
{
    return name[0] == other[0] && strcmp(name, other) == 0;
}

static void name_known(const char *const *known, struct problem *problem)
{
    struct text list = {0};

    for (const char *const *name = known; *name != NULL; name++) {
        text_printf(&list, "%s%s", name == known ? "" : ", ", *name);
    }
    if (known[0] == NULL) {
        problem_hint(problem, "This address takes no parameters.");
    } else if (text_status(&list) == STATUS_OK) {
        problem_hint(problem, "Known here: %s.", list.bytes);
    }
    text_finish(&list);
}

enum status query_check(const struct query *query, const char *const *known, struct problem *reterr)
{
    for (size_t i = 0; i < query->count; i++) {
        const char *name = query->parameters[i].name;

        size_t k = 0;

        while (known[k] != NULL && !is_same(name, known[k])) {
            k++;
        }
        if (known[k] != NULL) {
            continue;
        }
        problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "There is no parameter \"%s\" here.", name);
        name_known(known, reterr);
        return STATUS_UNKNOWN_PARAMETER;
    }
    return STATUS_OK;
}

const char *query_value(const struct query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (is_same(query->parameters[i].name, name)) {
            return query->parameters[i].value;
        }
    }
    return NULL;
}

enum status query_flag(const struct query *query, const char *name, bool *value,
                       struct problem *reterr)
{
    const char *text = query_value(query, name);

    if (text == NULL) {
        return STATUS_OK;
    }
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "%s is true or false, not \"%s\".", name,
                           text);
    }
    *value = text[0] == 't';
    return STATUS_OK;
}

enum status query_integer(const struct query *query, const char *name, int64_t least, int64_t most,
                          int64_t *value, struct problem *reterr)
{
    const char *text = query_value(query, name);
    int64_t number;

    if (text == NULL) {
        return STATUS_OK;
    }
    if (!number_parse_integer(text, strlen(text), &number) || number < least || number > most) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "%s is an integer from %" PRId64 " to %" PRId64 ", not \"%s\".", name,
                           least, most, text);
    }
    *value = number;
    return STATUS_OK;
}

enum status query_seconds(const struct query *query, const char *name, double most, double *value,
                          struct problem *reterr)
{
    const char *text = query_value(query, name);
    double number;

    if (text == NULL) {
        return STATUS_OK;
    }
    if (!number_parse_real(text, strlen(text), &number) || number < 0 || number > most) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "%s is a number of seconds from 0 to %.10g.",
                    name, most);
        return STATUS_BAD_PARAMETER;
    }
    *value = number;
    return STATUS_OK;
}

/* ---- The parameters of a job ---- */

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

/* A parameter of words: format, charset, weight, name, result or kind. */
static enum status set_word(const char *parameter, const char *value, struct job_request *request,
                            struct problem *reterr)
{
    if (strcmp(parameter, "name") == 0) {
        return set_name(value, request, reterr);
    }
    if (strcmp(parameter, "kind") == 0) {
        return kind_from_name(value, &request->parameters.kind)
                   ? STATUS_OK
                   : bad(reterr, "kind must be one of auto, i4, u2, f4, f8.");
    }
    if (strcmp(parameter, "result") == 0) {
        return result_form_from_name(value, &request->parameters.form)
                   ? STATUS_OK
                   : bad(reterr, "result must be one of auto, matrix, hierarchy.");
    }
    if (strcmp(parameter, "charset") == 0) {
        return charset_choose(value, request->options.charset, reterr);
    }
    if (strcmp(parameter, "weight") == 0) {
        if (value[0] == '\0' || strlen(value) >= sizeof(request->options.weight)) {
            return bad(reterr, "weight is the name of a column or attribute, 1 to 63 bytes.");
        }
        memcpy(request->options.weight, value, strlen(value) + 1);
        return STATUS_OK;
    }
    request->format = format_from_name(value);
    if (request->format == FORMAT_NONE || !format_info(request->format)->graph_input) {
        return bad(reterr, "format is none that is read here; GET /v1/formats lists them.");
    }
    return STATUS_OK;
}

enum status query_read_job(const struct query *query, double wait_limit_s,
                           struct job_request *request, struct problem *reterr)
{
    static const char *const words[] = {"format", "charset", "weight", "name", "result"};
    const char *kind = query_value(query, "kind");
    int64_t priority = request->parameters.priority;
    int64_t vertex_count = 0;
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < sizeof(words) / sizeof(words[0]); i++) {
        const char *value = query_value(query, words[i]);

        status = value == NULL ? STATUS_OK : set_word(words[i], value, request, reterr);
    }
    if (status == STATUS_OK) {
        status = query_flag(query, "directed", &request->options.directed, reterr);
    }
    if (status == STATUS_OK) {
        status = query_integer(query, "n", 0, UINT32_MAX - 1, &vertex_count, reterr);
    }
    if (status == STATUS_OK && kind != NULL) {
        status = set_word("kind", kind, request, reterr);
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
    request->options.has_directed = query_value(query, "directed") != NULL;
    request->options.has_vertex_count = query_value(query, "n") != NULL;
    request->options.vertex_count = (uint32_t)vertex_count;
    request->parameters.priority = (int)priority;
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

/* One member of a document about a stored graph. */
static enum status set_member(const char *name, const json_t *value, double wait_limit_s,
                              struct job_request *request, struct problem *reterr)
{
    const char *text = json_string_value(value);

    if (strcmp(name, "graph") == 0) {
        if (text == NULL || text[0] == '\0' || strlen(text) >= RESULT_KEY_SIZE) {
            return bad(reterr, "graph is the id or the name of a stored graph.");
        }
        memcpy(request->key, text, strlen(text) + 1);
        return STATUS_OK;
    }
    if (strcmp(name, "kind") == 0 || strcmp(name, "name") == 0 || strcmp(name, "result") == 0) {
        return set_word(name, text == NULL ? "" : text, request, reterr);
    }
    if (strcmp(name, "priority") == 0) {
        const json_int_t priority = json_integer_value(value);

        request->parameters.priority = (int)priority;
        return json_is_integer(value) && priority >= 0 && priority <= 9
                   ? STATUS_OK
                   : bad(reterr, "priority is an integer from 0 to 9.");
    }
    if (strcmp(name, "deadline_s") == 0) {
        return number_in(value, name, DEADLINE_LIMIT_S, &request->parameters.deadline_s, reterr);
    }
    if (strcmp(name, "wait") == 0) {
        return number_in(value, name, wait_limit_s, &request->wait_s, reterr);
    }
    if (strcmp(name, "verify") != 0) {
        problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "There is no member \"%s\" here.", name);
        problem_hint(reterr,
                     "Known: graph, kind, name, result, priority, deadline_s, wait, verify.");
        return STATUS_UNKNOWN_PARAMETER;
    }
    if (!json_is_boolean(value)) {
        return bad(reterr, "verify is true or false.");
    }
    request->parameters.verify = json_is_true(value);
    return STATUS_OK;
}

enum status query_read_job_document(const struct json_t *document, double wait_limit_s,
                                    struct job_request *request, struct problem *reterr)
{
    /* jansson's iterators want a pointer to non-const, and change nothing. */
    json_t *object = (json_t *)(uintptr_t)document;

    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        STATUS_TRY(set_member(json_object_iter_key(at), json_object_iter_value(at), wait_limit_s,
                              request, reterr));
    }
    return STATUS_OK;
}

bool query_is_idempotency_key(const char *text)
{
    size_t size = strlen(text);

    for (size_t i = 0; i < size; i++) {
        if (text[i] <= 0x20 || text[i] >= 0x7F) {
            return false;
        }
    }
    return size > 0 && size < IDEMPOTENCY_KEY_SIZE;
}
