#include "server/http/guard_gaps.h"

#include <stdint.h>
#include <string.h>

/* NULs and line ends: where a word of a line was cut out, between two lines, and at the end. */
#define ENDS_WITHIN_LINE 1
#define ENDS_BETWEEN_LINES 2
#define ENDS_OF_HEAD 4

/* What is left of the head behind the strings that were looked at. */
struct walk {
    const char *at;
    size_t left;
};

static bool is_line_end(char c)
{
    return c == '\0' || c == '\r' || c == '\n';
}

/* Blanks, and as many line ends as there must be; those of a line and its CR LF in one piece. */
static bool is_clean(const char *from, size_t size, unsigned ends)
{
    unsigned found = 0;

    for (size_t i = 0; i < size; i++) {
        if (is_line_end(from[i])) {
            found++;
        } else if ((from[i] != ' ' && from[i] != '\t') || (found > 0 && ends != ENDS_WITHIN_LINE)) {
            return false;
        }
    }
    return found == ends;
}

/* False for a string that lies elsewhere too: libmicrohttpd moves lines that were folded. */
static bool pass(struct walk *walk, unsigned ends, const char *string, size_t size)
{
    uintptr_t gap = (uintptr_t)string - (uintptr_t)walk->at;

    if (gap > walk->left || size > walk->left - gap || !is_clean(walk->at, gap, ends)) {
        return false;
    }
    walk->at += gap + size;
    walk->left -= gap + size;
    return true;
}

static bool pass_header(struct walk *walk, unsigned ends, const struct guard_header *header)
{
    return pass(walk, ends, header->name, header->name_size) &&
           (header->value == NULL ||
            pass(walk, ENDS_WITHIN_LINE, header->value, header->value_size));
}

bool guard_gaps_head_is_whole(const struct guard_request *request)
{
    struct walk walk = {request->method, request->head_size};

    if (!pass(&walk, 0, request->method, strlen(request->method)) ||
        !pass(&walk, ENDS_WITHIN_LINE, request->place_of_url, strlen(request->url)) ||
        !pass(&walk, ENDS_WITHIN_LINE, request->version, strlen(request->version))) {
        return false;
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (!pass_header(&walk, ENDS_BETWEEN_LINES, &request->headers[i])) {
            return false;
        }
    }
    return walk.left == ENDS_OF_HEAD && is_clean(walk.at, walk.left, ENDS_OF_HEAD);
}
