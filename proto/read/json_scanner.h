/* JSON (RFC 8259) cut into tokens, from bytes that come in any split; strict, and without a tree.
 * Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Containers within containers. */
#define JSON_DEPTH_LIMIT 32

enum json_token_kind {
    JSON_TOKEN_OBJECT_BEGIN,
    JSON_TOKEN_OBJECT_END,
    JSON_TOKEN_ARRAY_BEGIN,
    JSON_TOKEN_ARRAY_END,
    JSON_TOKEN_KEY,
    JSON_TOKEN_STRING,
    JSON_TOKEN_NUMBER,
    JSON_TOKEN_TRUE,
    JSON_TOKEN_FALSE,
    JSON_TOKEN_NULL
};

struct json_place {
    uint64_t line;   /* from 1 */
    uint64_t column; /* from 1, in bytes */
};

struct json_token {
    enum json_token_kind kind;
    const char *text; /* of a key, string or number, decoded, NUL-terminated; borrowed */
    size_t size;
    unsigned depth; /* open containers around the token; around the pair for begin and end */
    struct json_place place; /* where it begins */
};

struct json_scanner {
    enum status (*take)(void *context, const struct json_token *token, struct problem *reterr);
    void *context;
    int expected; /* what may follow: see json_scanner.c */
    int mode;     /* inside which kind of token */
    unsigned depth;
    uint64_t is_array; /* bit per open container */
    struct text text;  /* of the token so far */
    bool is_key;
    struct json_place place;       /* of the byte at hand */
    struct json_place token_place; /* where the token at hand begins */
    uint64_t offset;
    bool marked;   /* within a byte order mark */
    bool is_coded; /* the string at hand has escapes, or characters beyond ASCII */
};

void json_scanner_init(struct json_scanner *scanner);
void json_scanner_finish(struct json_scanner *scanner);
/* STATUS_BAD_GRAPH with line and column where the bytes are not JSON, else what take says. */
MUST_CHECK enum status json_scanner_feed(struct json_scanner *scanner, const char *bytes,
                                         size_t size, struct problem *reterr);
/* STATUS_TRUNCATED when the document is not complete. */
MUST_CHECK enum status json_scanner_end(struct json_scanner *scanner, struct problem *reterr);
