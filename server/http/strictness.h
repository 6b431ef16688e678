/* How strict libmicrohttpd is asked to be, before the request guard. Version 0.9 is left lenient:
 * the guard sees all that it lets pass, in the strings or between them, and refuses it in our
 * words, where it would refuse a request without Host in HTML, with a header block sent twice. From
 * 1.0 on nothing between the strings can be seen and at its default it joins folded lines, takes
 * tabs and bare LFs for delimiters, and redirects a target with a blank; so it is told to refuse
 * all of that by itself. Any stricter it would refuse an empty line before a request. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>

/* Whether what lies between the strings of a request is as guard_gaps.h wants it. */
static inline bool strictness_leaves_gaps(void)
{
    return strncmp(MHD_get_version(), "0.9.", 4) == 0;
}

/* For MHD_OPTION_STRICT_FOR_CLIENT. */
static inline int strictness_of_parser(void)
{
    return strictness_leaves_gaps() ? 0 : 1;
}
