/* A strict scanner that splits JSON (RFC 8259) into tokens without building a tree. The input may
 * be cut into pieces anywhere. A scanner is part of a reader and used by one thread at a time. */
#pragma once

#include "proto/problem.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum depth of nested arrays and objects. */
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
    uint64_t line;   /* line number, counted from 1 */
    uint64_t column; /* column in bytes, counted from 1 */
};

struct json_token {
    enum json_token_kind kind;
    const char *text; /* key, string or number, decoded and NUL-terminated; borrowed for the call */
    size_t size;
    unsigned depth;          /* number of open arrays and objects around the token */
    struct json_place place; /* position of the token's first byte */
};

struct json_scanner {
    enum status (*take)(void *context, const struct json_token *token, struct problem *reterr);
    void *context;
    int expected; /* which token may follow: enum expected of json_scanner.c */
    int mode;     /* the scanner's place in a token: enum mode of json_scanner.c */
    unsigned depth;
    uint64_t is_array; /* one bit per open container: 1 = array */
    struct text text;  /* bytes of the current token */
    bool is_key;
    struct json_place place;       /* position of the current byte */
    struct json_place token_place; /* position where the current token begins */
    uint64_t offset;
    bool marked;   /* whether the scanner is inside a byte order mark */
    bool is_coded; /* the current string has escapes or non-ASCII characters */
};

void json_scanner_init(struct json_scanner *scanner);
void json_scanner_finish(struct json_scanner *scanner);
/* Scans a piece of the document. STATUS_BAD_GRAPH for invalid JSON, else the status of `take`. */
MUST_CHECK enum status json_scanner_feed(struct json_scanner *scanner, const char *bytes,
                                         size_t size, struct problem *reterr);
/* Ends the document. STATUS_TRUNCATED when it is incomplete. */
MUST_CHECK enum status json_scanner_end(struct json_scanner *scanner, struct problem *reterr);

/* Refuses a token with STATUS_BAD_GRAPH and its position. hint may be NULL. */
enum status json_token_refuse(const struct json_token *token, const char *detail, const char *hint,
                              struct problem *reterr);
