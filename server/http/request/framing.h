/* The guard against request smuggling: refuses requests that libmicrohttpd accepts but a proxy in
 * front of it could parse differently (RFC 9112 sections 3, 5 and 6). Pure functions. */
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
    const char *url;     /* undecoded URL with the query */
    /* libmicrohttpd's pointer to the URL. Like the other strings it points into the head as
     * received, so its address shows how the head was written. */
    const char *url_place;
    const struct framing_header *headers;
    size_t header_count;
    size_t head_size; /* bytes of the head, from the method on; 0: unknown */
};

/* Checks the head of a request. Returns STATUS_BAD_REQUEST or STATUS_LENGTH_REQUIRED with the
 * reason; the caller then closes the connection after the refusal. *ret_body: the request announces
 * a body. *ret_closing: an accepted request must be the last of its connection, because
 * libmicrohttpd hides the chunk lines of a chunked body, or because the head has deviations that
 * its strings do not show. */
MUST_CHECK enum status framing_check(const struct framing_head *request, bool *ret_body,
                                     bool *ret_closing, struct problem *reterr);
/* Checks the trailer section after the last chunk: fields that frame the message or identify the
 * client are refused. */
MUST_CHECK enum status framing_check_trailers(const struct framing_header *headers, size_t count,
                                              struct problem *reterr);
