/* The life of a request, from its first line to the last byte of its answer: guard, route, key,
 * query, body and handler. On the thread of its connection. */
#pragma once

#include "server/http/request/request.h"

/* Sets the callbacks of an endpoint, whose context is a struct http_context. */
void request_set_callbacks(struct endpoint_rules *rules);
