/* The head of a request as libmicrohttpd has parsed it, and its trailers.
 *
 * A head that is too long is 431: more than HEAD_HEADER_LIMIT headers, or so many bytes, headers,
 * parameters and cookies that the memory of the connection has no room for the head of an answer.
 * Where there is no room for that refusal either, and where libmicrohttpd has no room for a
 * parameter, it closes the connection without an answer. Beyond ENDPOINT_CONNECTION_BYTES it
 * answers 431 or 414 itself. A head that a proxy could read differently is 400: framing.h. */
#pragma once

#include "server/http/request/framing.h"

struct request;

#define HEAD_HEADER_LIMIT 100

/* ret_body: whether a body comes. Where a proxy may see its end elsewhere, the request is the last
 * of its connection. line: as libmicrohttpd gave its strings. */
MUST_CHECK enum status head_check(struct request *request, const struct framing_head *line,
                                  bool *ret_body, struct problem *reterr);
/* After a body in chunks. */
MUST_CHECK enum status head_check_trailers(const struct request *request, struct problem *reterr);
