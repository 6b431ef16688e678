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
    /* The target where it lies in the head, and the bytes of the head from the method on, for
     * guard_gaps.h; 0 = not known, or the strings lie anywhere. */
    const char *place_of_url;
    size_t head_size;
};

/* STATUS_OK, or STATUS_BAD_REQUEST / STATUS_LENGTH_REQUIRED with the reason: the connection is then
 * closed after the answer. ret_body: the request announces a body, and its connection is closed
 * after the answer too. */
MUST_CHECK enum status guard_check(const struct guard_request *request, bool *ret_body,
                                   struct problem *reterr);
/* What came behind the last chunk: nothing that is about the message itself, or about who asks. */
MUST_CHECK enum status guard_check_trailers(const struct guard_header *headers, size_t count,
                                            struct problem *reterr);
