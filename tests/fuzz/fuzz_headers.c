/* Parses arbitrary bytes as values of several headers: Range, If-None-Match, Accept,
 * Accept-Encoding, Prefer and traceparent. The first byte is the size of the content to which a
 * Range applies. */
#include "proto/text.h"
#include "server/http/request/headers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void try_range(const char *value, uint64_t size)
{
    uint64_t first = 0;
    uint64_t count = 0;

    if (header_range(value, size, &first, &count) == RANGE_PART)
        CHECK(count > 0 && first < size && count <= size - first);
    else
        CHECK(first == 0 && count == 0);
    (void)text_lists_tag(value, "\"a\"", size % 2 == 0);
}

static void try_preferences(const char *value)
{
    static const char *const offers[] = {"application/json", "text/plain", "text/csv", NULL};
    size_t index = 0;
    double wait = 1;

    if (header_choose_type(value, offers, &index))
        CHECK(index < 3);
    CHECK(header_choose_coding(value, 1u << CODING_GZIP) != CODING_ZSTD);
    if (header_wait(value, &wait))
        CHECK(isfinite(wait) && wait >= 0);
}

static void try_trace(const char *value)
{
    char trace[TRACEPARENT_SIZE];
    char again[TRACEPARENT_SIZE];

    if (header_traceparent(value, trace)) {
        CHECK(strlen(trace) == TRACEPARENT_SIZE - 1);
        CHECK(header_traceparent(trace, again) && strcmp(trace, again) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    char *value = calloc(size, 1);
    CHECK(value != NULL);
    memcpy(value, bytes + 1, size - 1);
    try_range(value, bytes[0] < 0xF0 ? bytes[0] : UINT64_MAX - bytes[0]);
    try_preferences(value);
    try_trace(value);
    free(value);
    return 0;
}
