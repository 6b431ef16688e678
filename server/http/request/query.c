#include "server/http/request/query.h"

#include "proto/number.h"
#include "proto/text.h"

#include <inttypes.h>
#include <string.h>

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
        enum status status = add(&query, piece, escaped, reterr);
        if (status != STATUS_OK) {
            return status;
        }
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

static bool is_known(const char *name, const char *const *known)
{
    while (*known != NULL && !is_same(name, *known)) {
        known++;
    }
    return *known != NULL;
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

        if (is_known(name, known)) {
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
