/* Pages of other sites: the same-origin policy from the side of the server (Fetch Standard, section
 * 3.3, CORS protocol). A browser sends any page's simple requests, and hides only the answers. It
 * hides them by name, so a page whose own name is bound anew to this address (DNS rebinding) may
 * read them too. Pure. */
#pragma once

#include "server/config.h"

#include <stdbool.h>
#include <stddef.h>

/* A header to let the page read an answer. */
struct origin_cors_header {
    const char *name;
    const char *value;
};

#define ORIGIN_CORS_HEADER_LIMIT 3
#define ORIGIN_CORS_METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"
/* Each header that a handler reads, or that clients send with a graph. */
#define ORIGIN_CORS_REQUEST_HEADERS                                                                \
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, Prefer, If-None-Match, "      \
    "If-Match, If-Range, Range, X-Request-Id, Accept, Last-Event-ID, traceparent"
/* The longest that Chromium takes. */
#define ORIGIN_CORS_MAX_AGE_S "7200"

/* Whether a page of another site cannot have this Host: the name of this machine for itself, an
 * address (rebinding needs a name), or configured. host: checked by framing_check; NULL and empty
 * are accepted, as no browser sends them. */
bool origin_knows_host(const struct config *config, const char *host);
/* Whether config->cors_origins has it. */
bool origin_is_listed(const struct config *config, const char *origin);
/* Whether a page sent it that is neither of this service nor listed. NULL where the request has no
 * such header; site is that of Sec-Fetch-Site. */
bool origin_is_foreign(const struct config *config, const char *host, const char *origin,
                       const char *site);
/* The headers of an answer to a request of this origin; their count. origin is borrowed, NULL =
 * none came. */
size_t origin_cors_headers(const struct config *config, const char *origin,
                           struct origin_cors_header ret_headers[ORIGIN_CORS_HEADER_LIMIT]);
