#include "server/http/request/query.h"

#include "proto/number.h"
#include "proto/read/reader.h"
#include "proto/write/overview.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_LIMIT_S 31536000 /* one year */

bool query_decode(char *text)
{
    char *to = strchr(text, '%');
    if (to == NULL) {
        return true;
    }
    for (const char *at = to; *at != '\0'; at++) {
        *to = *at;
        if (*at == '%') {
            const char digits[3] = {at[1], at[1] == '\0' ? '\0' : at[2], '\0'};
            *to = (char)strtoul(digits, NULL, 16);
            if (strspn(digits, "0123456789abcdefABCDEF") != 2 || *to == '\0') {
                return false;
            }
            at += 2;
        }
        to++;
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

static enum status add_parameter(struct query *query, char *piece, struct problem *reterr)
{
    char *value = strchr(piece, '=');
    if (value != NULL) {
        *value++ = '\0';
    }
    if (!decode_form(piece) || (value != NULL && !decode_form(value))) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "The query contains an invalid percent escape or %%00.");
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
    char *rest = text;
    ret_query->count = 0;
    while (rest != NULL) {
        char *piece = rest;
        rest = strchr(piece, '&');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        if (piece[0] != '\0') {
            STATUS_TRY(add_parameter(ret_query, piece, reterr));
        }
    }
    return STATUS_OK;
}

static bool is_listed(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static enum status refuse_unknown(const char *name, const char *const *known,
                                  struct problem *reterr)
{
    problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "This route has no parameter \"%s\".", name);
    if (known[0] == NULL) {
        problem_hint(reterr, "This route has no parameters.");
    } else {
        problem_hint_list(reterr, "The parameters of this route are", known);
    }
    return STATUS_UNKNOWN_PARAMETER;
}

/* Types and limits of the parameters in queries and documents; all other parameters are text. */
static const struct type {
    const char *name;
    enum { TYPE_FLAG, TYPE_INTEGER, TYPE_SECONDS, TYPE_REAL } look;
    int64_t least;
    int64_t most;
} types[] = {
    {"directed", TYPE_FLAG, 0, 0},
    {"verify", TYPE_FLAG, 0, 0},
    {"header", TYPE_FLAG, 0, 0},
    {"n", TYPE_INTEGER, 0, UINT32_MAX - 1},
    {"m", TYPE_INTEGER, 0, INT64_C(1) << 48},
    {"priority", TYPE_INTEGER, 0, 9},
    {"limit", TYPE_INTEGER, 1, 1000},
    {"size", TYPE_INTEGER, 1, OVERVIEW_CELLS},
    {"k", TYPE_INTEGER, 1, UINT32_MAX},
    {"deadline_s", TYPE_SECONDS, 0, DEADLINE_LIMIT_S},
    {"wait", TYPE_SECONDS, 0, INT32_MAX}, /* the configuration sets a lower limit */
    {"max", TYPE_REAL, 0, 0},
    {"lon", TYPE_REAL, 0, 0},
    {"lat", TYPE_REAL, 0, 0},
    {"x", TYPE_REAL, 0, 0},
    {"y", TYPE_REAL, 0, 0},
};

/* Returns NULL for a text parameter. */
static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

static enum status check_value(const struct query_parameter *parameter, double wait_limit_s,
                               struct problem *reterr)
{
    const struct type *type = find_type(parameter->name);
    const char *name = parameter->name;
    const char *text = parameter->value;
    double real = 0;
    int64_t number = 0;
    if (type == NULL) {
        return STATUS_OK;
    }
    const bool is_real = number_parse_real(text, strlen(text), &real);
    const double most = strcmp(name, "wait") == 0 ? wait_limit_s : (double)type->most;
    switch (type->look) {
    case TYPE_FLAG:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "%s must be true or false, not \"%s\".", name, text);
    case TYPE_INTEGER:
        return number_parse_integer(text, strlen(text), &number) && number >= type->least &&
                       number <= type->most
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "%s must be an integer from %" PRId64 " to %" PRId64
                                 ", not \"%s\".",
                                 name, type->least, type->most, text);
    case TYPE_SECONDS:
        return is_real && real >= 0 && real <= most
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "%s must be a number of seconds from 0 to %.10g.", name, most);
    case TYPE_REAL:
        break;
    }
    return is_real ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER, "%s must be a number, not \"%s\".",
                                 name, text);
}

enum status query_check(const struct query *query, const char *const *known, double wait_limit_s,
                        struct problem *reterr)
{
    for (size_t i = 0; i < query->count; i++) {
        if (!is_listed(known, query->parameters[i].name)) {
            return refuse_unknown(query->parameters[i].name, known, reterr);
        }
        STATUS_TRY(check_value(&query->parameters[i], wait_limit_s, reterr));
    }
    return STATUS_OK;
}

const char *query_value(const struct query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->parameters[i].name, name) == 0) {
            return query->parameters[i].value;
        }
    }
    return NULL;
}

bool query_flag(const struct query *query, const char *name, bool fallback)
{
    const char *text = query_value(query, name);
    return text == NULL ? fallback : text[0] == 't';
}

int64_t query_integer(const struct query *query, const char *name, int64_t fallback)
{
    const char *text = query_value(query, name);
    CHECK(text == NULL || number_parse_integer(text, strlen(text), &fallback));
    return fallback;
}

double query_real(const struct query *query, const char *name, double fallback)
{
    const char *text = query_value(query, name);
    CHECK(text == NULL || number_parse_real(text, strlen(text), &fallback));
    return fallback;
}

/* Sets the name, which must not start with g_ or j_, because IDs do. */
static enum status set_name(const char *name, struct job_request *request, struct problem *reterr)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t size = strlen(name);
    if (size == 0 || size >= NAME_SIZE || strspn(name, letters) != size ||
        strncmp(name, "g_", 2) == 0 || strncmp(name, "j_", 2) == 0) {
        return problem_set(
            reterr, STATUS_BAD_PARAMETER,
            "name must consist of 1 to 127 letters, digits, dots, underscores and dashes, "
            "and must not start with g_ or j_.");
    }
    memcpy(request->parameters.name, name, size + 1);
    return STATUS_OK;
}

/* Sets a text parameter: graph, format, charset, name, result, kind, or an option of the reader. */
static enum status set_word(const char *parameter, const char *value, struct job_request *request,
                            struct problem *reterr)
{
    if (strcmp(parameter, "graph") == 0) {
        if (value[0] == '\0' || strlen(value) >= RESULT_KEY_SIZE) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "graph must be the ID or the name of a stored graph.");
        }
        memcpy(request->key, value, strlen(value) + 1);
        return STATUS_OK;
    }
    if (strcmp(parameter, "name") == 0) {
        return set_name(value, request, reterr);
    }
    if (strcmp(parameter, "kind") == 0) {
        return kind_from_name(value, &request->parameters.kind)
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "kind must be one of auto, i4, u2, f4, f8.");
    }
    if (strcmp(parameter, "result") == 0) {
        return result_form_from_name(value, &request->parameters.form)
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "result must be one of auto, matrix, hierarchy.");
    }
    if (strcmp(parameter, "charset") == 0) {
        return charset_choose(value, request->options.charset, reterr);
    }
    if (strcmp(parameter, "format") != 0) {
        return reader_set_option(&request->options, parameter, value, reterr);
    }
    request->format = format_from_name(value);
    if (request->format == FORMAT_NONE || format_info(request->format)->parameters == NULL) {
        return problem_set(
            reterr, STATUS_BAD_PARAMETER,
            "format must be a supported input format; GET /v1/formats lists the formats.");
    }
    return STATUS_OK;
}

enum status query_read_job(const struct query *query, struct job_request *request,
                           struct problem *reterr)
{
    struct job_parameters *parameters = &request->parameters;
    struct graph_options *options = &request->options;
    for (size_t i = 0; i < query->count; i++) {
        const struct query_parameter *parameter = &query->parameters[i];
        if (find_type(parameter->name) == NULL) {
            STATUS_TRY(set_word(parameter->name, parameter->value, request, reterr));
        }
    }
    options->has_directed = query_value(query, "directed") != NULL;
    options->directed = query_flag(query, "directed", options->directed);
    options->has_vertex_count = query_value(query, "n") != NULL;
    options->vertex_count = (uint32_t)query_integer(query, "n", 0);
    parameters->priority = (int)query_integer(query, "priority", parameters->priority);
    parameters->deadline_s = query_real(query, "deadline_s", parameters->deadline_s);
    parameters->verify = query_flag(query, "verify", parameters->verify);
    request->wait_s = query_real(query, "wait", request->wait_s);
    return STATUS_OK;
}

enum status query_from_document(const struct json_t *document, const char *const *known,
                                double wait_limit_s, struct query_document *ret_document,
                                struct problem *reterr)
{
    struct query *query = &ret_document->query;
    const char *name;
    json_t *value;
    query->count = 0;
    /* jansson's iterators take a pointer to non-const, but do not modify the object. */
    json_object_foreach((json_t *)(uintptr_t)document, name, value)
    {
        const bool is_word = find_type(name) == NULL;
        char *number = ret_document->numbers[query->count];
        if (!is_listed(known, name)) {
            return refuse_unknown(name, known, reterr);
        }
        if (is_word != json_is_string(value)) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "%s must be %s.", name,
                               is_word ? "a string" : "a number, true or false");
        }
        const size_t size = json_dumpb(value, number, QUERY_NUMBER_SIZE - 1, JSON_ENCODE_ANY);
        if (!is_word && size >= QUERY_NUMBER_SIZE) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "The value of %s is too long.", name);
        }
        number[is_word ? 0 : size] = '\0';
        query->parameters[query->count++] =
            (struct query_parameter){name, is_word ? json_string_value(value) : number};
    }
    return query_check(query, known, wait_limit_s, reterr);
}

enum status query_check_idempotency_key(const char *key, struct problem *reterr)
{
    const size_t size = key == NULL ? 0 : strlen(key);
    bool is_visible = key == NULL || (size > 0 && size < IDEMPOTENCY_KEY_SIZE);
    for (size_t i = 0; i < size; i++) {
        is_visible &= key[i] > 0x20 && key[i] < 0x7F;
    }
    return is_visible
               ? STATUS_OK
               : problem_set(reterr, STATUS_BAD_REQUEST,
                             "Idempotency-Key must consist of 1 to 127 visible ASCII characters.");
}
