#include "server/http/request/accept.h"

#include "proto/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* One element of a comma-separated list, blanks trimmed. */
struct element {
    const char *bytes;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct element trim(const char *bytes, size_t size)
{
    while (size > 0 && is_blank(bytes[0])) {
        bytes++;
        size--;
    }
    while (size > 0 && is_blank(bytes[size - 1])) {
        size--;
    }
    return (struct element){bytes, size};
}

/* The element up to the separator; *rest moves past it, to NULL after the last. */
static struct element next(const char **rest, const char *end, char separator)
{
    const char *first = *rest;
    const char *stop = memchr(first, separator, (size_t)(end - first));

    *rest = stop == NULL ? NULL : stop + 1;
    return trim(first, (size_t)((stop == NULL ? end : stop) - first));
}

/* 0 does not match, 1 any type, 2 any subtype, 3 exactly. */
static int match(struct element range, const char *offer)
{
    const char *slash = strchr(offer, '/');
    size_t type_size = (size_t)(slash - offer) + 1;

    if (range.size == 3 && memcmp(range.bytes, "*/*", 3) == 0) {
        return 1;
    }
    if (range.size == type_size + 1 && strncasecmp(range.bytes, offer, type_size) == 0 &&
        range.bytes[type_size] == '*') {
        return 2;
    }
    if (range.size == strlen(offer) && strncasecmp(range.bytes, offer, range.size) == 0) {
        return 3;
    }
    return 0;
}

/* From 0 to 1: RFC 9110, section 12.4.2. What is beyond is taken for the nearest, what is no number
 * for 0. */
static double quality(const char *rest, const char *end)
{
    double value;

    while (rest != NULL) {
        struct element parameter = next(&rest, end, ';');

        if (parameter.size > 2 && strncasecmp(parameter.bytes, "q=", 2) == 0) {
            return number_parse_real(parameter.bytes + 2, parameter.size - 2, &value)
                       ? fmin(fmax(value, 0), 1)
                       : 0;
        }
    }
    return 1;
}

/* How much the header likes an offer: its most exact match decides. */
static double liking(const char *accept, const char *offer)
{
    const char *rest = accept;
    const char *end = accept + strlen(accept);
    int best = 0;
    double liked = 0;

    while (rest != NULL) {
        struct element piece = next(&rest, end, ',');
        const char *piece_end = piece.bytes + piece.size;
        const char *parameters = piece.bytes;
        int exactness = match(next(&parameters, piece_end, ';'), offer);

        if (exactness > best) {
            best = exactness;
            liked = quality(parameters, piece_end);
        }
    }
    return liked;
}

bool accept_choose(const char *accept, const char *const *offers, size_t *ret_index)
{
    double best = 0;

    /* Most clients send one of these: the first offer is taken without parsing. */
    if (accept == NULL || accept[0] == '\0' || strcmp(accept, "*/*") == 0) {
        *ret_index = 0;
        return true;
    }
    for (size_t i = 0; offers[i] != NULL; i++) {
        double liked = liking(accept, offers[i]);

        if (liked > best) {
            best = liked;
            *ret_index = i;
        }
    }
    return best > 0;
}

double accept_coding(const char *accept_encoding, const char *coding, double fallback)
{
    const char *rest = accept_encoding;
    const char *end = accept_encoding + strlen(accept_encoding);
    double liked = fallback;

    while (rest != NULL) {
        const struct element piece = next(&rest, end, ',');
        const char *piece_end = piece.bytes + piece.size;
        const char *parameters = piece.bytes;
        const struct element name = next(&parameters, piece_end, ';');

        if (name.size == strlen(coding) && strncasecmp(name.bytes, coding, name.size) == 0) {
            return quality(parameters, piece_end);
        }
        if (name.size == 1 && name.bytes[0] == '*') {
            liked = quality(parameters, piece_end);
        }
    }
    return liked;
}

/* Its value may be in quotes (RFC 7240, section 2). */
static bool read_wait(struct element preference, double *ret_wait_s)
{
    if (preference.size <= 5 || strncasecmp(preference.bytes, "wait=", 5) != 0) {
        return false;
    }
    struct element value = {preference.bytes + 5, preference.size - 5};

    if (value.size > 2 && value.bytes[0] == '"' && value.bytes[value.size - 1] == '"') {
        value = (struct element){value.bytes + 1, value.size - 2};
    }
    return number_parse_real(value.bytes, value.size, ret_wait_s) && *ret_wait_s >= 0;
}

bool accept_wait(const char *prefer, double *ret_wait_s)
{
    const char *rest = prefer;
    const char *end = prefer == NULL ? NULL : prefer + strlen(prefer);
    double wait_s;

    while (rest != NULL) {
        const struct element piece = next(&rest, end, ',');
        const char *value = piece.bytes;
        const char *piece_end = piece.bytes + piece.size;
        const struct element preference = next(&value, piece_end, ';'); /* parameters follow */

        if (read_wait(preference, &wait_s)) {
            *ret_wait_s = wait_s;
            return true;
        }
    }
    return false;
}
