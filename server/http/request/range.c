#include "server/http/request/range.h"

#include "proto/number.h"

#include <string.h>
#include <strings.h>

static bool parse_position(const char *bytes, size_t size, uint64_t *ret_value)
{
    int64_t value;

    if (size == 0 || bytes[0] < '0' || bytes[0] > '9') {
        return false;
    }
    /* More than an int64 holds is past every end. */
    if (!number_parse_integer(bytes, size, &value)) {
        value = INT64_MAX;
    }
    *ret_value = (uint64_t)value;
    return strspn(bytes, "0123456789") >= size;
}

static enum range_outcome parse_suffix(const char *count, uint64_t size, uint64_t *ret_first,
                                       uint64_t *ret_size)
{
    uint64_t wanted;

    if (!parse_position(count, strlen(count), &wanted)) {
        return RANGE_WHOLE;
    }
    if (wanted == 0 || size == 0) {
        return RANGE_UNSATISFIABLE;
    }
    *ret_size = wanted < size ? wanted : size;
    *ret_first = size - *ret_size;
    return RANGE_PART;
}

enum range_outcome range_parse(const char *header, uint64_t size, uint64_t *ret_first,
                               uint64_t *ret_size)
{
    const char *spec;
    const char *dash;
    uint64_t first;
    uint64_t last = UINT64_MAX;

    if (header == NULL || strncasecmp(header, "bytes=", 6) != 0) {
        return RANGE_WHOLE;
    }
    spec = header + 6;
    if (spec[0] == '-') {
        return parse_suffix(spec + 1, size, ret_first, ret_size);
    }
    dash = strchr(spec, '-');
    if (dash == NULL || !parse_position(spec, (size_t)(dash - spec), &first)) {
        return RANGE_WHOLE;
    }
    if (dash[1] != '\0' && (!parse_position(dash + 1, strlen(dash + 1), &last) || last < first)) {
        return RANGE_WHOLE;
    }
    if (first >= size) {
        return RANGE_UNSATISFIABLE;
    }
    *ret_first = first;
    *ret_size = (last < size ? last + 1 : size) - first;
    return RANGE_PART;
}

bool range_list_has_tag(const char *list, const char *tag)
{
    size_t size = strlen(tag);
    const char *at = list;

    while (*at != '\0') {
        at += strspn(at, " \t,");
        if (strncmp(at, "W/", 2) == 0) {
            at += 2;
        }
        size_t length = strcspn(at, " \t,");
        if ((length == 1 && *at == '*') || (length == size && strncmp(at, tag, size) == 0)) {
            return true;
        }
        at += length;
    }
    return false;
}
