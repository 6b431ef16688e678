/* The way of a request: guard, route, key, query, handler. On the pool thread of its connection. */
#pragma once

#include "server/http/request/request.h"
#include "server/http/transport/guard.h"

/* Once its headers are there. line: as libmicrohttpd gave its strings. */
void request_begin(struct request *request, const struct guard_request *line);
/* Instead of it, for one of a connection too many. */
void request_turn_away(struct request *request, enum limits_verdict verdict);
/* The request is complete, or a call of it has been answered. */
void request_go_on(struct request *request);
/* The end of a request, answered or not: it is counted, and logged. */
void request_account(const struct request *request, double now_s);
