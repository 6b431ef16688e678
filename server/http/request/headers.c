#include "server/http/request/headers.h"

#include "proto/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* One element of a list with separators, without surrounding spaces and tabs. */
struct element {
    const char *bytes;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns the next element. Moves *rest past its separator, or sets it to NULL after the last. */
static struct element next_element(const char **rest, const char *end, char separator)
{
    const char *first = *rest;
    const char *stop = memchr(first, separator, (size_t)(end - first));
    *rest = stop == NULL ? NULL : stop + 1;
    stop = stop == NULL ? end : stop;
    while (first < stop && is_blank(first[0])) {
        first++;
    }
    while (first < stop && is_blank(stop[-1])) {
        stop--;
    }
    return (struct element){first, (size_t)(stop - first)};
}

/* Returns how exactly a range matches an offer (a media type or a coding): 0 not at all, 1 by a
 * wildcard, 2 by type and any subtype, 3 exactly. */
static int match_range(struct element range, const char *offer)
{
    const char *slash = strchr(offer, '/');
    const char *any = slash != NULL ? "*/*" : "*";
    const size_t type_size = slash != NULL ? (size_t)(slash - offer) + 1 : 0;
    if (range.size == strlen(any) && memcmp(range.bytes, any, range.size) == 0) {
        return 1;
    }
    if (slash != NULL && range.size == type_size + 1 &&
        strncasecmp(range.bytes, offer, type_size) == 0 && range.bytes[type_size] == '*') {
        return 2;
    }
    return range.size == strlen(offer) && strncasecmp(range.bytes, offer, range.size) == 0 ? 3 : 0;
}

/* Returns the q parameter, from 0 to 1 (RFC 9110 section 12.4.2); 1 when absent. A value outside
 * the range is clamped; text that is not a number counts as 0. */
static double parse_quality(const char *rest, const char *end)
{
    double value;
    while (rest != NULL) {
        struct element parameter = next_element(&rest, end, ';');
        if (parameter.size > 2 && strncasecmp(parameter.bytes, "q=", 2) == 0) {
            return number_parse_real(parameter.bytes + 2, parameter.size - 2, &value)
                       ? fmin(fmax(value, 0), 1)
                       : 0;
        }
    }
    return 1;
}

/* Returns the quality of an offer by the header's most exact match; fallback if none matches. */
static double find_quality(const char *accept, const char *offer, double fallback)
{
    const char *rest = accept;
    const char *end = accept + strlen(accept);
    int best = 0;
    double liked = fallback;
    while (rest != NULL) {
        struct element piece = next_element(&rest, end, ',');
        const char *piece_end = piece.bytes + piece.size;
        const char *parameters = piece.bytes;
        int exactness = match_range(next_element(&parameters, piece_end, ';'), offer);
        if (exactness > best) {
            best = exactness;
            liked = parse_quality(parameters, piece_end);
        }
    }
    return liked;
}

bool header_choose_type(const char *accept, const char *const *offers, size_t *ret_index)
{
    double best = 0;
    if (accept == NULL || accept[0] == '\0') {
        *ret_index = 0;
        return true;
    }
    for (size_t i = 0; offers[i] != NULL; i++) {
        double liked = find_quality(accept, offers[i], 0);
        if (liked > best) {
            best = liked;
            *ret_index = i;
        }
    }
    return best > 0;
}

enum coding header_choose_coding(const char *accept_encoding, unsigned offers)
{
    static const enum coding liked_first[] = {CODING_ZSTD, CODING_GZIP, CODING_IDENTITY};
    enum coding best = CODING_IDENTITY;
    double most = 0;
    if (accept_encoding == NULL) {
        return CODING_IDENTITY;
    }
    for (size_t i = 0; i < sizeof(liked_first) / sizeof(liked_first[0]); i++) {
        const enum coding coding = liked_first[i];
        /* Identity is always acceptable, but with the lowest quality unless the header names it. */
        const double fallback = coding == CODING_IDENTITY ? 0.0005 : 0;
        const double liked = find_quality(accept_encoding, decoder_coding_name(coding), fallback);
        if (liked > most && (coding == CODING_IDENTITY || (offers & 1u << coding) != 0)) {
            most = liked;
            best = coding;
        }
    }
    return best;
}

bool header_wait(const char *prefer, double *ret_wait_s)
{
    const char *rest = prefer;
    const char *end = prefer == NULL ? NULL : prefer + strlen(prefer);
    double wait_s;
    while (rest != NULL) {
        const struct element piece = next_element(&rest, end, ',');
        const char *parameters = piece.bytes;
        const char *piece_end = piece.bytes + piece.size;
        struct element value = next_element(&parameters, piece_end, ';');
        if (value.size <= 5 || strncasecmp(value.bytes, "wait=", 5) != 0) {
            continue;
        }
        value = (struct element){value.bytes + 5, value.size - 5};
        /* The value may be in quotes (RFC 7240, section 2). */
        if (value.size > 2 && value.bytes[0] == '"' && value.bytes[value.size - 1] == '"') {
            value = (struct element){value.bytes + 1, value.size - 2};
        }
        if (number_parse_real(value.bytes, value.size, &wait_s) && wait_s >= 0) {
            *ret_wait_s = wait_s;
            return true;
        }
    }
    return false;
}

/* Parses digits as a byte position; a larger number becomes INT64_MAX. False for other text. */
static bool parse_position(const char *bytes, size_t size, uint64_t *ret_value)
{
    int64_t value = INT64_MAX;
    if (size == 0 || strspn(bytes, "0123456789") < size) {
        return false;
    }
    (void)!number_parse_integer(bytes, size, &value);
    *ret_value = (uint64_t)value;
    return true;
}

enum range_outcome header_range(const char *header, uint64_t size, uint64_t *ret_first,
                                uint64_t *ret_size)
{
    const bool is_range = header != NULL && strncasecmp(header, "bytes=", 6) == 0;
    const char *spec = is_range ? header + 6 : "";
    const char *dash = strchr(spec, '-');
    uint64_t first = 0;
    uint64_t last = INT64_MAX;
    if (dash == NULL || (dash > spec && !parse_position(spec, (size_t)(dash - spec), &first)) ||
        ((dash == spec || dash[1] != '\0') && !parse_position(dash + 1, strlen(dash + 1), &last)) ||
        (dash > spec && last < first)) {
        return RANGE_WHOLE;
    }
    if (dash == spec) { /* a suffix range: `last` is the number of bytes at the end */
        first = last < size ? size - last : 0;
        size = last > 0 ? size : 0;
        last = INT64_MAX;
    }
    if (first >= size) {
        return RANGE_UNSATISFIABLE;
    }
    *ret_first = first;
    *ret_size = (last < size ? last + 1 : size) - first;
    return RANGE_PART;
}

bool request_id_is_valid(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t size = strlen(text);
    return size > 0 && size < REQUEST_ID_SIZE && strspn(text, letters) == size;
}

void request_id_print(uint64_t seed, uint64_t number, char ret_id[REQUEST_ID_OWN_SIZE])
{
    /* XXH3 of 8 bytes is one to one, so different numbers have different IDs. */
    snprintf(ret_id, REQUEST_ID_OWN_SIZE, "%016" PRIx64,
             (uint64_t)XXH3_64bits_withSeed(&number, sizeof(number), seed));
}

bool header_traceparent(const char *header, char ret_traceparent[TRACEPARENT_SIZE])
{
    static const char pattern[] = "00-%32[0-9a-f]-%16[0-9a-f]-%2[0-9a-f]%n";
    char trace[33];
    char parent[17];
    char flags[3];
    int size = 0;
    /* The total size is right only if each field has its full width. An ID must not be zero. */
    const bool is_valid = strlen(header) == TRACEPARENT_SIZE - 1 &&
                          sscanf(header, pattern, trace, parent, flags, &size) == 3 &&
                          size == TRACEPARENT_SIZE - 1 && trace[strspn(trace, "0")] != '\0' &&
                          parent[strspn(parent, "0")] != '\0';
    if (is_valid) {
        memcpy(ret_traceparent, header, TRACEPARENT_SIZE);
    }
    return is_valid;
}
