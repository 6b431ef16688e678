/* The weight of an edge in a document of JSON, and the name that it goes by: one for all edges, by
 * a parameter or else by what programs write. */
#pragma once

#include "proto/read/json_scanner.h"

#define JSON_WEIGHT_SIZE 512

struct json_weight {
    const char *names[8]; /* the first overrules the others; NULL ends them */
    size_t used;          /* 1 + the name that edges have had so far; 0 = none */
    size_t name;          /* likewise, of the edge at hand; 0: it has no weight */
    size_t other;         /* a second name that it has; 0 = none */
    struct json_place place;
    size_t size; /* 0: no number */
    char text[JSON_WEIGHT_SIZE];
    char key[64];              /* the other attribute at hand, or with the first number */
    struct json_place unknown; /* of that number; line 0 = none so far */
};

/* wanted: the parameter, borrowed, or empty. is_free: the format gives the weight no name. */
void json_weight_init(struct json_weight *weight, const char *wanted, bool is_free);
/* Before each edge. */
void json_weight_begin(struct json_weight *weight);
/* 1 + the name in this key, 0 when it is none. */
size_t json_weight_find(const struct json_weight *weight, const struct json_token *key);
/* The value of the member of this name. STATUS_BAD_GRAPH when the edge had it before. */
MUST_CHECK enum status json_weight_take(struct json_weight *weight, size_t name,
                                        const struct json_token *token, struct problem *reterr);
/* The end of the edge. STATUS_BAD_GRAPH when its weight is no number, or could be two. */
MUST_CHECK enum status json_weight_end(struct json_weight *weight, struct problem *reterr);
/* A key or a value of the edge that is neither its weight nor an end. */
void json_weight_pass(struct json_weight *weight, const struct json_token *token);
/* The end of the edges. STATUS_BAD_PARAMETER when none has the wanted name, STATUS_BAD_GRAPH when
 * none has a known one, but numbers under others. */
MUST_CHECK enum status json_weight_finish(const struct json_weight *weight, const char *wanted,
                                          struct problem *reterr);
