/* The bytes of a request's body: to the upload or the document of its request, or nowhere once
 * they are refused. On the thread of the connection. */
#pragma once

#include "server/http/request/request.h"

/* MHD_NO: the connection ends here. */
enum MHD_Result body_feed(struct request *request, const char *bytes, size_t size);
