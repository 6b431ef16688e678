/* The request guard: what is refused before anything else looks at a request. Pure.
 *   - What libmicrohttpd lets through and a proxy in front of it could read differently (request
 *     smuggling): RFC 9112 sections 3, 5, 6.
 *   - What a web browser sends for a page of somebody else: the same-origin policy from the side of
 *     the server (Fetch Standard, section 3.3, CORS protocol). A browser sends any page's simple
 *     requests, and hides only the answers. It hides them by name, so a page whose own name is
 * bound anew to this address (DNS rebinding) may read them too. */
#pragma once

#include "proto/problem.h"
#include "server/config.h"

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
    const char *url;     /* undecoded, with the query */
    /* Where the library has the url. Its strings lie in the buffer of the head, as they came. */
    const char *url_place;
    const struct guard_header *headers;
    size_t header_count;
    size_t head_size; /* bytes of the head, from the method on; 0: not known */
};

/* STATUS_OK, or STATUS_BAD_REQUEST / STATUS_LENGTH_REQUIRED with the reason: the connection is then
 * closed after the answer. ret_body: the request announces a body. ret_closing: the connection is
 * closed after the answer too, because that body comes in chunks, whose lines nothing shows, or
 * because the head is not written as plainly as its strings look. */
MUST_CHECK enum status guard_check(const struct guard_request *request, bool *ret_body,
                                   bool *ret_closing, struct problem *reterr);
/* Checks the trailer section, behind the last chunk: no field may be about the message itself or
 * about the client. */
MUST_CHECK enum status guard_check_trailers(const struct guard_header *headers, size_t count,
                                            struct problem *reterr);

/* ---- Pages of other sites ---- */

/* A header to let the page read an answer. */
struct guard_cors_header {
    const char *name;
    const char *value;
};

#define GUARD_CORS_HEADER_LIMIT 3
#define GUARD_CORS_METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"
/* Each header that a handler reads, or that clients send with a graph. */
#define GUARD_CORS_REQUEST_HEADERS                                                                 \
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, Prefer, If-None-Match, "      \
    "If-Match, If-Range, Range, X-Request-Id, Accept, Last-Event-ID, traceparent"
/* The longest that Chromium takes. */
#define GUARD_CORS_MAX_AGE_S "7200"

/* Whether a page of another site cannot have this Host: the name of this machine for itself, an
 * address (rebinding needs a name), or configured. host: checked by guard_check; NULL and empty are
 * accepted, as no browser sends them. */
bool guard_knows_host(const struct config *config, const char *host);
/* Whether config->cors_origins has it. */
bool guard_lists_origin(const struct config *config, const char *origin);
/* Whether a page sent it that is neither of this service nor listed. NULL where the request has no
 * such header; site is that of Sec-Fetch-Site. */
bool guard_is_cross_origin(const struct config *config, const char *host, const char *origin,
                           const char *site);
/* The headers of an answer to a request of this origin; their count. origin is borrowed, NULL =
 * none came. */
size_t guard_cors_headers(const struct config *config, const char *origin,
                          struct guard_cors_header ret_headers[GUARD_CORS_HEADER_LIMIT]);
