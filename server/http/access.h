/* Who may do what: the key of a request, and the right that its route asks for. */
#pragma once

#include "server/http/exchange.h"

/* Once the route is known, before anything else of the request is looked at. STATUS_UNAUTHORIZED,
 * with the header that says how to ask, STATUS_WRONG_KEYS, which ends the connection, or
 * STATUS_FORBIDDEN; else the exchange has its grant. */
MUST_CHECK enum status access_check(struct exchange *exchange, struct problem *reterr);
