/* Checks the head of a request as libmicrohttpd has parsed it, and its trailers. Called on the
 * thread of the connection.
 *
 * A head is refused with 431 if it has more than HEAD_HEADER_LIMIT headers, or if its text,
 * parameters and cookies leave no room in the connection's memory for the head of the answer. If
 * there is no room even for the refusal or for a parameter, libmicrohttpd closes the connection
 * without an answer; beyond ENDPOINT_CONNECTION_BYTES it responds with 431 or 414 itself. A head
 * that a proxy could parse differently is refused with 400 (framing.h). */
#pragma once

#include "server/http/request/framing.h"

struct request;

#define HEAD_HEADER_LIMIT 100

/* Checks the head. line: method, version and URL pointer as libmicrohttpd passed them. *ret_body:
 * the request announces a body. Marks the request as the last of its connection when a proxy could
 * disagree about where the request ends. */
MUST_CHECK enum status head_check(struct request *request, const struct framing_head *line,
                                  bool *ret_body, struct problem *reterr);
/* Checks the trailers of a chunked body. */
MUST_CHECK enum status head_check_trailers(const struct request *request, struct problem *reterr);
