/* Authorization: the key of a request must have the right that its route requires. */
#pragma once

#include "server/http/request/request.h"

/* Once the route is known, before anything else of the request is looked at. STATUS_UNAUTHORIZED,
 * with the header that says how to ask, STATUS_WRONG_KEYS, which ends the connection, or
 * STATUS_FORBIDDEN; else the request has its grant. */
MUST_CHECK enum status auth_check(struct request *request, struct problem *reterr);
