/* The weight of an edge in a document of JSON, and the name that it goes by: one for all edges, by
 * a parameter or else as of edge_columns_rank. */
#pragma once

#include "proto/read/json_scanner.h"

#define JSON_WEIGHT_SIZE 512

struct weight_name {
    size_t rank;    /* as of edge_columns_rank; NO_COLUMN: it is no weight */
    char bytes[64]; /* a longer one is no weight */
};

struct json_weight {
    const char *wanted;       /* the parameter, borrowed, or empty */
    const char *place_of_all; /* in words, the object that has the weight */
    struct weight_name used;  /* that edges have had so far */
    struct weight_name name;  /* of the edge at hand */
    struct weight_name other; /* a second one that it has */
    bool is_doubtful;         /* which of the two it is */
    struct json_place place;
    size_t size; /* 0: no number */
    char text[JSON_WEIGHT_SIZE];
    struct weight_name key;       /* of the member whose value comes next */
    char passed[64];              /* the other attribute at hand, or with the first number */
    struct json_place unweighted; /* the first edge without a weight; line 0 = none so far */
    struct json_place unknown;    /* of that number; line 0 = none so far */
    bool is_reached;              /* weight= reaches it there */
};

void json_weight_init(struct json_weight *weight, const char *wanted, const char *place_of_all);
/* Before each edge. */
void json_weight_begin(struct json_weight *weight);
/* Whether the member of this key, whose value comes next, is the weight. */
bool json_weight_find(struct json_weight *weight, const struct json_token *key);
/* The value of that member. STATUS_BAD_GRAPH when the edge had it before. */
MUST_CHECK enum status json_weight_take(struct json_weight *weight, const struct json_token *token,
                                        struct problem *reterr);
/* The end of the edge that begins there. STATUS_BAD_GRAPH when its weight is no number, could be
 * two, or is missing where others are not. */
MUST_CHECK enum status json_weight_end(struct json_weight *weight, struct json_place edge,
                                       struct problem *reterr);
/* A key or a value of the edge that is neither its weight nor an end. is_reached: it is in the
 * object that has the weight. */
void json_weight_pass(struct json_weight *weight, const struct json_token *token, bool is_reached);
/* The end of the edges. STATUS_BAD_PARAMETER when none has the wanted name, STATUS_BAD_GRAPH when
 * none has a known one, but numbers under others. */
MUST_CHECK enum status json_weight_finish(const struct json_weight *weight, struct problem *reterr);
