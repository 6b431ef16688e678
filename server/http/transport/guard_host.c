#include "server/http/transport/guard_host.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Unreserved, or a delimiter that may be part of a name. */
static bool is_name_byte(char c)
{
    return is_digit(c) || c == '.' || is_letter(c) || c == '-' ||
           (c != '\0' && strchr("_~!$&'()*+,;=", c) != NULL);
}

/* The RFC lets a name have commas; but a list of two hosts, read by one as the first of them and by
 * another as a name, is what this is about. */
static size_t name_size(const char *value, size_t size)
{
    size_t at = 0;

    while (at < size) {
        if (is_name_byte(value[at]) && value[at] != ',') {
            at++;
        } else if (value[at] == '%' && size - at > 2 && is_hex(value[at + 1]) &&
                   is_hex(value[at + 2])) {
            at += 3;
        } else {
            break;
        }
    }
    return at;
}

/* 0 = not closed, or with what no address has. */
static size_t literal_size(const char *value, size_t size)
{
    for (size_t at = 1; at < size; at++) {
        if (value[at] == ']') {
            return at > 2 ? at + 1 : 0;
        }
        if (!is_hex(value[at]) && value[at] != ':' && value[at] != '.') {
            return 0;
        }
    }
    return 0;
}

bool guard_host_is_valid(const char *value, size_t size)
{
    bool literal = size > 0 && value[0] == '[';
    size_t at = literal ? literal_size(value, size) : name_size(value, size);

    if (literal && at == 0) {
        return false;
    }
    if (at < size && value[at] == ':') {
        for (at++; at < size && is_digit(value[at]);) {
            at++;
        }
    }
    return at == size;
}
