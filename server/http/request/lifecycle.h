/* Drives a request from its headers to the end of its answer: checks its framing, finds its route,
 * checks its key and query, reads its body and runs the handler. Runs in libmicrohttpd's callbacks,
 * on the thread of the connection. */
#pragma once

#include "server/http/request/request.h"

/* Sets the callbacks of an endpoint, whose context is a struct http_context. */
void request_set_callbacks(struct endpoint_rules *rules);
