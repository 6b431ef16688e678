/* Requests that a web browser sends for a page of somebody else: the same-origin policy from the
 * side of the server (Fetch Standard, section 3.3, CORS protocol). Pure.
 *
 * A browser sends any page's simple requests, and hides only the answers. It hides them by name, so
 * a page whose own name is bound anew to this address (DNS rebinding) may read them too. */
#pragma once

#include "server/config.h"

/* A header to let the page read an answer. */
struct cross_origin_header {
    const char *name;
    const char *value;
};

#define CROSS_ORIGIN_HEADER_LIMIT 3
#define CROSS_ORIGIN_METHODS "GET, HEAD, POST, PUT, DELETE"
/* Each header that a handler reads, or that clients send with a graph. */
#define CROSS_ORIGIN_REQUEST_HEADERS                                                               \
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, Prefer, If-None-Match, "      \
    "If-Match, If-Range, Range, X-Request-Id, Accept, Last-Event-ID, traceparent"
/* The longest that Chromium takes. */
#define CROSS_ORIGIN_MAX_AGE_S "7200"

/* Whether a page of another site cannot have this Host: the name of this machine for itself, an
 * address (rebinding needs a name), or configured. host: valid for guard_host.h; NULL and empty are
 * accepted, as no browser sends them. */
bool cross_origin_knows_host(const struct config *config, const char *host);
/* Whether config->cors_origins has it. */
bool cross_origin_is_listed(const struct config *config, const char *origin);
/* Whether a page sent it that is neither of this service nor listed. NULL where the request has no
 * such header; site is that of Sec-Fetch-Site. */
bool cross_origin_is_foreign(const struct config *config, const char *host, const char *origin,
                             const char *site);
/* The headers of an answer to a request of this origin; their count. origin is borrowed, NULL =
 * none came. */
size_t cross_origin_headers(const struct config *config, const char *origin,
                            struct cross_origin_header ret_headers[CROSS_ORIGIN_HEADER_LIMIT]);
