/* What lies between the strings of a request. libmicrohttpd 0.9 cuts them out of the buffer in
 * which the head came, with a NUL where each ends, and so loses sight of three things: a NUL that
 * the client sent, which hides the rest of its line; a header without a name, which ends the head
 * early, so that what follows is a body or another request; and a line that ends in a bare LF. All
 * three remain in the gaps. What does not is whether it was the CR LF of a line end, or one of them
 * a NUL, or the colon of a line without a name before a bare LF. Pure. */
#pragma once

#include "server/http/guard.h"

/* False when the head_size bytes from the method on are anything but the strings of the request in
 * their order, with blanks and one line end, CR LF, between its lines, and an empty line at the
 * end. */
bool guard_gaps_head_is_whole(const struct guard_request *request);
