/* Protects browser users from pages of other sites: Host and Origin checks, and CORS (Fetch
 * Standard, section 3.3). A browser sends simple requests for any page, and only hides the answers
 * from pages of other hosts. An attacker who rebinds a page's host name to this service's address
 * (DNS rebinding) could therefore read the answers too, so Host is checked. Pure functions. */
#pragma once

#include "server/config.h"

#include <stdbool.h>

#define ORIGIN_CORS_METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"
/* Every request header that a handler reads or that clients send with a graph. */
#define ORIGIN_CORS_REQUEST_HEADERS                                                                \
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, Prefer, If-None-Match, "      \
    "If-Match, If-Range, Range, X-Request-Id, Accept, Last-Event-ID, traceparent"
/* Every response header that a page may read. */
#define ORIGIN_CORS_EXPOSED_HEADERS                                                                \
    "Location, Retry-After, ETag, Content-Range, Accept-Ranges, X-Request-Id, "                    \
    "Content-Disposition, Preference-Applied, traceparent, Allow, "                                \
    "WWW-Authenticate, X-Matrix-Dtype, X-Matrix-Shape, X-Matrix-Unreachable"
/* Seconds that a browser may cache a preflight: the maximum that Chromium honours. */
#define ORIGIN_CORS_MAX_AGE_S "7200"

/* Returns whether the Host header names this service in a form that DNS rebinding cannot produce:
 * localhost, an IP address (rebinding needs a name), or a configured name. host has passed
 * framing_check; NULL and the empty string are accepted, because browsers never send them. */
bool origin_knows_host(const struct config *config, const char *host);
/* Returns whether config->cors_origins contains the origin. */
bool origin_is_listed(const struct config *config, const char *origin);
/* Returns whether the request comes from a page that belongs neither to this service nor to a
 * listed origin. site is the Sec-Fetch-Site header. Headers that the request lacks are NULL. */
bool origin_is_foreign(const struct config *config, const char *host, const char *origin,
                       const char *site);
