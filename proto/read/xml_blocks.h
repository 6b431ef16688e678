/* XML from bytes in any split: expat gets them in blocks of one size, so that all that it says,
 * places of errors too, is the same for every split. Entities are refused, and a tag or a comment
 * has a longest length, so that no document takes more memory than it looks.
 * Embedded in a reader; not for more than one thread at a time. */
#pragma once

#include "proto/read/json_scanner.h"

#include <expat.h>

#define XML_BLOCK_SIZE 16384
/* Between a namespace and the name of an element. */
#define XML_SEPARATOR '\n'

struct xml_blocks {
    XML_Parser parser; /* its user data is this struct */
    void *context;     /* for the handlers */
    char *block;       /* XML_BLOCK_SIZE */
    size_t block_size;
    uint64_t parsed_bytes;
    enum status status;     /* of the handlers, which cannot return it */
    struct problem *reterr; /* for them, while bytes are fed */
};

MUST_CHECK enum status xml_blocks_init(struct xml_blocks *blocks, void *context);
/* Accepts zeroes. */
void xml_blocks_finish(struct xml_blocks *blocks);

/* Returns the status of a failed handler, else STATUS_BAD_GRAPH with line and column when the
 * document is not well-formed XML. */
MUST_CHECK enum status xml_blocks_feed(struct xml_blocks *blocks, const char *bytes, size_t size,
                                       struct problem *reterr);
/* STATUS_TRUNCATED when the document is not complete. */
MUST_CHECK enum status xml_blocks_end(struct xml_blocks *blocks, struct problem *reterr);

/* In a handler: what is at hand begins there. */
struct json_place xml_blocks_place(const struct xml_blocks *blocks);
/* In a handler: nothing happens for STATUS_OK, else the parser stops. */
void xml_blocks_fail(struct xml_blocks *blocks, enum status status);
/* STATUS_BAD_GRAPH at what is at hand. */
enum status xml_blocks_refuse(const struct xml_blocks *blocks, const char *detail,
                              const char *hint);
