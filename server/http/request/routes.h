/* The addresses of the service: the one table that says what is answered where. */
#pragma once

#include "server/http/request/router.h"

extern const struct route routes_table[];
extern const size_t routes_count;
