#include "proto/read/json_weight.h"

#include "proto/number.h"
#include "proto/read/edge_columns.h"

#include <string.h>

void json_weight_init(struct json_weight *weight, const char *wanted, bool is_free)
{
    /* NetworkX writes weight, D3 and vis.js value or length. */
    static const struct json_weight known = {
        .names = {"weight", "value", "length", "distance", "cost"}};

    *weight = known;
    weight->names[0] = wanted[0] != '\0' ? wanted : known.names[0];
    weight->names[1] = is_free && wanted[0] == '\0' ? known.names[1] : NULL;
}

void json_weight_begin(struct json_weight *weight)
{
    weight->name = 0;
    weight->other = 0;
}

size_t json_weight_find(const struct json_weight *weight, const struct json_token *key)
{
    for (size_t i = 0; weight->names[i] != NULL; i++) {
        if (strlen(weight->names[i]) == key->size &&
            memcmp(weight->names[i], key->text, key->size) == 0) {
            return i + 1;
        }
    }
    return 0;
}

enum status json_weight_take(struct json_weight *weight, size_t name,
                             const struct json_token *token, struct problem *reterr)
{
    const bool is_number = token->kind == JSON_TOKEN_NUMBER && token->size < JSON_WEIGHT_SIZE;

    if (weight->name == name) {
        return problem_bad_graph(reterr, token->place.line, token->place.column,
                                 "The member occurs twice.");
    }
    if (weight->name != 0 && name != 1) {
        weight->other = name;
        return STATUS_OK;
    }
    weight->other = weight->name;
    weight->name = name;
    weight->place = token->place;
    weight->size = is_number ? token->size : 0;
    memcpy(weight->text, token->text, weight->size);
    return STATUS_OK;
}

enum status json_weight_end(struct json_weight *weight, struct problem *reterr)
{
    const struct json_place place = weight->place;
    const size_t other = weight->name > 1 && weight->other != 0 ? weight->other : weight->used;

    if (weight->name == 0) {
        return STATUS_OK;
    }
    if (weight->size == 0) {
        return problem_bad_graph(reterr, place.line, place.column, "The weight is not a number.");
    }
    if (other != 0 && other != weight->name) {
        problem_bad_graph(reterr, place.line, place.column,
                          "The weight may be \"%s\" or \"%s\", since edges have both names.",
                          weight->names[other - 1], weight->names[weight->name - 1]);
        problem_hint(reterr, "Name the one to take: weight=%s.", weight->names[weight->name - 1]);
        return STATUS_BAD_GRAPH;
    }
    weight->used = weight->name;
    return STATUS_OK;
}

void json_weight_pass(struct json_weight *weight, const struct json_token *token)
{
    const struct field field = {token->text, token->size, 0};
    double value;

    if (weight->used != 0 || weight->unknown.line != 0) {
        return;
    }
    if (token->kind == JSON_TOKEN_KEY || token->kind == JSON_TOKEN_ARRAY_BEGIN) {
        const bool is_kept = token->kind == JSON_TOKEN_KEY && token->size < sizeof(weight->key) &&
                             !edge_columns_is_id(field);

        memcpy(weight->key, token->text, is_kept ? token->size : 0);
        weight->key[is_kept ? token->size : 0] = '\0';
    } else if (weight->key[0] != '\0' &&
               (token->kind == JSON_TOKEN_NUMBER || token->kind == JSON_TOKEN_STRING) &&
               number_parse_real(token->text, token->size, &value)) {
        weight->unknown = token->place;
    }
}

enum status json_weight_finish(const struct json_weight *weight, const char *wanted,
                               struct problem *reterr)
{
    if (weight->used != 0) {
        return STATUS_OK;
    }
    if (wanted[0] != '\0') {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "weight=%s names an attribute that no edge has.", wanted);
    }
    if (weight->unknown.line == 0) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, weight->unknown.line, weight->unknown.column,
                      "No attribute of the edges has a name known for weights, and there are "
                      "numbers in \"%s\".",
                      weight->key);
    problem_hint(reterr,
                 "weight=%s takes the weights from it, where it is a number in the edge itself, no "
                 "text and in no inner object.",
                 weight->key);
    return STATUS_BAD_GRAPH;
}
