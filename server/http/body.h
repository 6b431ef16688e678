/* The bytes of a request's body: to the upload or the document of its exchange, or nowhere once
 * they are refused. Pool thread of the connection. */
#pragma once

#include "server/http/exchange.h"

/* At the headers of a request with a body that is awaited. */
void body_begin(struct exchange *exchange);
/* MHD_NO: the connection ends here. */
enum MHD_Result body_feed(struct exchange *exchange, const char *bytes, size_t size);
