/* Checks the head of a request as libmicrohttpd has parsed it, and its trailers. On the thread of
 * the connection.
 *
 * A head that is too large is answered 431: more than HEAD_HEADER_LIMIT headers, or so much text,
 * so many parameters and cookies that the connection's memory has no room left for the head of the
 * answer. When there is no room even for the refusal, or none for a parameter, libmicrohttpd closes
 * the connection without an answer; beyond ENDPOINT_CONNECTION_BYTES it answers 431 or 414 itself.
 * A head that a proxy could parse differently is answered 400: see framing.h. */
#pragma once

#include "server/http/request/framing.h"

struct request;

#define HEAD_HEADER_LIMIT 100

/* line: method, version and URL pointer as libmicrohttpd passed them. ret_body: the request
 * announces a body. Marks the request as the last of its connection when a proxy could disagree
 * about where the request ends. */
MUST_CHECK enum status head_check(struct request *request, const struct framing_head *line,
                                  bool *ret_body, struct problem *reterr);
/* Checks the trailers of a chunked body. */
MUST_CHECK enum status head_check_trailers(const struct request *request, struct problem *reterr);
