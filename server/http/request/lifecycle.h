/* The life of a request, from its first line to the last byte of its answer: guard, route, key,
 * query, body and handler. On the thread of its connection. */
#pragma once

#include "server/http/request/request.h"

/* The context of the endpoints of a listener, the same for all requests that come there. */
struct request_origin {
    struct http_context *http_context;
    unsigned listeners; /* the routes that are answered here: of enum route_listener */
    bool is_unix;
};

/* Sets the callbacks of an endpoint, whose context is a struct request_origin. */
void request_set_callbacks(struct endpoint_rules *rules);
