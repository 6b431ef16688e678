/* The way of a request: guard, route, key, query, handler. On the pool thread of its connection. */
#pragma once

#include "server/http/exchange.h"
#include "server/http/guard.h"
#include "server/http/turnstile.h"

/* Once its headers are there. line: as libmicrohttpd gave its strings. */
void request_begin(struct exchange *exchange, const struct guard_request *line);
/* Instead of it, for one of a connection too many. */
void request_turn_away(struct exchange *exchange, enum turnstile_verdict verdict);
/* The request is complete, or an ask of it has been answered. */
void request_go_on(struct exchange *exchange);
/* The end of a request, answered or not: it is counted, and logged. */
void request_account(const struct exchange *exchange, double now_s);
