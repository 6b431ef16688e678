/* The request guard: refuses what libmicrohttpd lets through and what could be read differently by
 * a proxy in front of it (request smuggling). Pure, over the header list; runs before anything else
 * looks at a request. RFC 9112 sections 3, 5, 6. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct guard_header {
    const char *name;
    size_t name_size;
    const char *value; /* NULL = no value */
    size_t value_size;
};

struct guard_request {
    const char *method;
    const char *version; /* "HTTP/1.1" */
    const char *url;     /* undecoded, without the query */
    const struct guard_header *headers;
    size_t header_count;
    size_t head_size; /* bytes of the head, from the method on; 0: not known */
};

/* STATUS_OK, or STATUS_BAD_REQUEST / STATUS_LENGTH_REQUIRED with the reason: the connection is then
 * closed after the answer. ret_closing: it is closed after the answer too, because the request
 * announces a body, or a line of its head may have ended in a bare LF. */
MUST_CHECK enum status guard_check(const struct guard_request *request, bool *ret_closing,
                                   struct problem *reterr);
/* Checks the trailer section, behind the last chunk: no field may be about the message itself or
 * about the client. */
MUST_CHECK enum status guard_check_trailers(const struct guard_header *headers, size_t count,
                                            struct problem *reterr);
