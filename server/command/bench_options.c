#include "server/command/bench_options.h"

#include "proto/number.h"

#include <string.h>

static const char *const kind_names[ARITHMETIC_COUNT] = {
    [ARITHMETIC_I4] = "i4",
    [ARITHMETIC_NARROW] = "u2",
    [ARITHMETIC_F4] = "f4",
    [ARITHMETIC_F8] = "f8",
};

const char *bench_options_kind_name(enum arithmetic arithmetic)
{
    return kind_names[arithmetic];
}

const char *bench_options_kind_label(enum arithmetic arithmetic)
{
    return arithmetic == ARITHMETIC_NARROW ? "i4 (16-bit)" : kind_names[arithmetic];
}

static bool parse_size(const char *text, size_t size, uint32_t *ret_size)
{
    int64_t value = 0;
    if (!number_parse_integer(text, size, &value) || value < 1 || value > BENCH_VERTICES_MAX) {
        return false;
    }
    *ret_size = (uint32_t)value;
    return true;
}

static bool add_size(struct bench_options *options, uint32_t size)
{
    if (options->size_count == BENCH_SIZE_LIMIT) {
        return false;
    }
    options->sizes[options->size_count++] = size;
    return true;
}

/* One entry of the list. */
static bool add_sizes(const char *text, size_t size, struct bench_options *options)
{
    const char *dots = memmem(text, size, "..", 2);
    uint32_t first = 0;
    uint32_t last = 0;
    if (dots == NULL) {
        return parse_size(text, size, &first) && add_size(options, first);
    }
    const size_t before = (size_t)(dots - text);
    if (!parse_size(text, before, &first) || !parse_size(dots + 2, size - before - 2, &last) ||
        first > last) {
        return false;
    }
    for (uint32_t at = first; at < last; at *= 2) {
        if (!add_size(options, at)) {
            return false;
        }
    }
    return add_size(options, last);
}

enum status bench_options_sizes(const char *text, struct bench_options *options,
                                struct problem *reterr)
{
    options->size_count = 0;
    for (const char *at = text;; ++at) {
        const size_t size = strcspn(at, ",");
        if (!add_sizes(at, size, options)) {
            problem_set(reterr, STATUS_BAD_PARAMETER,
                        "--sizes is \"%.60s\"; it must be numbers of vertices, 1 to %d, and ranges",
                        text, BENCH_VERTICES_MAX);
            problem_hint(reterr, "such as 256..8192,10000; at most %d sizes", BENCH_SIZE_LIMIT);
            return STATUS_BAD_PARAMETER;
        }
        at += size;
        if (*at == '\0') {
            return STATUS_OK;
        }
    }
}

static bool add_kind(const char *text, size_t size, struct bench_options *options)
{
    for (size_t i = 0; i < ARITHMETIC_COUNT; ++i) {
        if (strlen(kind_names[i]) == size && memcmp(kind_names[i], text, size) == 0) {
            options->kinds[i] = true;
            return true;
        }
    }
    return false;
}

enum status bench_options_kinds(const char *text, struct bench_options *options,
                                struct problem *reterr)
{
    memset(options->kinds, 0, sizeof(options->kinds));
    options->kinds_given = true;
    for (const char *at = text;; ++at) {
        const size_t size = strcspn(at, ",");
        if (!add_kind(at, size, options)) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "--kinds is \"%.60s\"; it must be a list of i4, u2, f4, f8", text);
        }
        at += size;
        if (*at == '\0') {
            return STATUS_OK;
        }
    }
}
