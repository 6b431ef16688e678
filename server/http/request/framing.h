/* The request guard: refuses what libmicrohttpd lets through and a proxy in front of it could read
 * differently (request smuggling): RFC 9112 sections 3, 5, 6. Pure. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct framing_header {
    const char *name;
    size_t name_size;
    const char *value; /* NULL = no value */
    size_t value_size;
};

struct framing_head {
    const char *method;
    const char *version; /* "HTTP/1.1" */
    const char *url;     /* undecoded, with the query */
    /* Where the library has the url. Its strings lie in the buffer of the head, as they came. */
    const char *url_place;
    const struct framing_header *headers;
    size_t header_count;
    size_t head_size; /* bytes of the head, from the method on; 0: not known */
};

/* STATUS_OK, or STATUS_BAD_REQUEST / STATUS_LENGTH_REQUIRED with the reason: the connection is then
 * closed after the answer. ret_body: the request announces a body. ret_closing: the connection is
 * closed after the answer too, because that body comes in chunks, whose lines nothing shows, or
 * because the head is not written as plainly as its strings look. */
MUST_CHECK enum status framing_check(const struct framing_head *request, bool *ret_body,
                                     bool *ret_closing, struct problem *reterr);
/* Checks the trailer section, behind the last chunk: no field may be about the message itself or
 * about the client. */
MUST_CHECK enum status framing_check_trailers(const struct framing_header *headers, size_t count,
                                              struct problem *reterr);
