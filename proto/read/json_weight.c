#include "proto/read/json_weight.h"

#include "proto/number.h"
#include "proto/read/edge_columns.h"
#include "proto/read/reader.h"

#include <string.h>

static const struct weight_name no_name = {.rank = NO_COLUMN};

void json_weight_init(struct json_weight *weight, const char *wanted, const char *place_of_all)
{
    /* The third of a compact edge has no key, and is the weight. */
    *weight = (struct json_weight){.wanted = wanted,
                                   .place_of_all = place_of_all,
                                   .used = no_name,
                                   .name = no_name,
                                   .key = {0, READER_WEIGHT_VALUE}};
}

void json_weight_begin(struct json_weight *weight)
{
    weight->name = no_name;
    weight->is_doubtful = false;
}

bool json_weight_find(struct json_weight *weight, const struct json_token *key)
{
    const struct field field = {key->text, key->size, 0};

    if (key->size >= sizeof(weight->key.bytes)) {
        return false;
    }
    /* Most edges have the name of those before. */
    if (weight->used.rank != NO_COLUMN && weight->used.bytes[key->size] == '\0' &&
        memcmp(weight->used.bytes, key->text, key->size) == 0) {
        weight->key = weight->used;
        return true;
    }
    const size_t rank = edge_columns_rank(field, weight->wanted);
    if (rank != NO_COLUMN) {
        memcpy(weight->key.bytes, key->text, key->size + 1);
        weight->key.rank = rank;
    }
    return rank != NO_COLUMN;
}

enum status json_weight_take(struct json_weight *weight, const struct json_token *token,
                             struct problem *reterr)
{
    const bool is_number = token->kind == JSON_TOKEN_NUMBER && token->size < JSON_WEIGHT_SIZE;
    const struct weight_name *key = &weight->key;
    const struct weight_name *name = &weight->name;
    const bool overrules = key->rank == 0 && name->rank != 0;

    if (name->rank != NO_COLUMN && strcmp(name->bytes, key->bytes) == 0) {
        return problem_bad_graph(reterr, token->place.line, token->place.column,
                                 "The member occurs twice.");
    }
    if (name->rank != NO_COLUMN) {
        weight->other = overrules ? *name : *key;
        weight->is_doubtful =
            !overrules && (weight->is_doubtful || name->rank != 0 || key->rank == 0);
    }
    if (name->rank == NO_COLUMN || overrules) {
        weight->name = *key;
        weight->place = token->place;
        weight->size = is_number ? token->size : 0;
        memcpy(weight->text, token->text, weight->size);
    }
    return STATUS_OK;
}

enum status json_weight_end(struct json_weight *weight, struct json_place edge,
                            struct problem *reterr)
{
    const struct json_place place = weight->place;
    const char *name = weight->name.bytes;

    if (weight->name.rank == NO_COLUMN) {
        weight->unweighted = weight->unweighted.line == 0 ? edge : weight->unweighted;
        return weight->used.rank == NO_COLUMN ? STATUS_OK : reader_refuse_missing(edge, reterr);
    }
    if (weight->unweighted.line > 0) {
        return reader_refuse_missing(weight->unweighted, reterr);
    }
    if (weight->size == 0) {
        problem_bad_graph(reterr, place.line, place.column, "The weight is not a number.");
        problem_hint(reterr,
                     "Write it as a number, or give weight=none, which counts each edge 1.");
        return STATUS_BAD_GRAPH;
    }
    if (!weight->is_doubtful && weight->used.rank != NO_COLUMN) {
        weight->other = weight->used;
        weight->is_doubtful = strcmp(weight->used.bytes, name) != 0;
    }
    if (weight->is_doubtful) {
        problem_bad_graph(reterr, place.line, place.column,
                          "The weight may be \"%s\" or \"%s\", since edges have both names.",
                          weight->other.bytes, name);
        problem_hint(reterr, "Name the one to take: weight=%s.", name);
        return STATUS_BAD_GRAPH;
    }
    weight->used = weight->name;
    return STATUS_OK;
}

void json_weight_pass(struct json_weight *weight, const struct json_token *token, bool is_reached)
{
    struct field field = {token->text, token->size, 0};
    double value;

    if (weight->used.rank != NO_COLUMN || weight->unknown.line != 0) {
        return;
    }
    if (token->kind == JSON_TOKEN_KEY) {
        const bool is_kept = token->size < sizeof(weight->passed) && !edge_columns_is_id(field);

        memcpy(weight->passed, token->text, is_kept ? token->size : 0);
        weight->passed[is_kept ? token->size : 0] = '\0';
    } else if (token->kind == JSON_TOKEN_ARRAY_BEGIN) {
        /* A list counts for "weights", and not for the points of a line. */
        field = (struct field){weight->passed, strlen(weight->passed), 0};
        if (field.size == 0 || field.bytes[--field.size] != 's' ||
            edge_columns_rank(field, "") == NO_COLUMN) {
            weight->passed[0] = '\0';
        }
    } else if (weight->passed[0] != '\0' &&
               (token->kind == JSON_TOKEN_NUMBER || token->kind == JSON_TOKEN_STRING) &&
               number_parse_real(token->text, token->size, &value)) {
        weight->unknown = token->place;
        weight->is_reached = is_reached && token->kind == JSON_TOKEN_NUMBER;
    }
}

enum status json_weight_finish(const struct json_weight *weight, struct problem *reterr)
{
    if (weight->used.rank != NO_COLUMN || edge_columns_are_unweighted(weight->wanted)) {
        return STATUS_OK;
    }
    if (weight->wanted[0] != '\0') {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "weight=%s names an attribute that no edge has.", weight->wanted);
    }
    if (weight->unknown.line == 0) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, weight->unknown.line, weight->unknown.column,
                      "There are numbers in \"%s\", and no edge has a weight.", weight->passed);
    if (weight->is_reached) {
        problem_hint(reterr,
                     "weight=%s takes the weights from it, and weight=none counts each edge 1.",
                     weight->passed);
    } else {
        problem_hint(reterr,
                     "Write the weight as a number in %s, or give weight=none, which counts each "
                     "edge 1.",
                     weight->place_of_all);
    }
    return STATUS_BAD_GRAPH;
}
