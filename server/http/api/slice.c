#include "server/http/api/slice.h"

#include "proto/number.h"
#include "proto/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void slice_all(struct slice *slice, const struct vertex_names *names)
{
    slice->axis = (struct axis){NULL, 0, vertex_names_count(names)};
}

void slice_finish(struct slice *slice)
{
    free(slice->list);
    *slice = (struct slice){0};
}

static enum status grow_list(struct slice *slice, struct problem *reterr)
{
    const size_t capacity = slice->capacity == 0 ? 64 : slice->capacity * 2;
    uint32_t *list;

    if (slice->axis.count < slice->capacity) {
        return STATUS_OK;
    }
    list = capacity > UINT32_MAX ? NULL : realloc(slice->list, capacity * sizeof(*list));
    if (list == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    slice->list = list;
    slice->axis.list = list;
    slice->capacity = capacity;
    return STATUS_OK;
}

enum status slice_add(struct slice *slice, const struct vertex_names *names, const char *name,
                      size_t size, struct problem *reterr)
{
    uint32_t row;

    STATUS_TRY(grow_list(slice, reterr));
    STATUS_TRY(vertex_names_require(names, name, size, &row, reterr));
    slice->list[slice->axis.count++] = row;
    return STATUS_OK;
}

enum status slice_scan(struct slice *slice, const struct vertex_names *names,
                       struct name_scanner *scanner, struct problem *reterr)
{
    STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
    if (name_scanner_take(scanner, ']')) {
        return STATUS_OK;
    }
    do {
        struct scanned_name name = {0};

        STATUS_TRY(name_scanner_name(scanner, &name, reterr));
        const enum status status = slice_add(slice, names, name.bytes, name.size, reterr);

        name_scanner_release(&name);
        if (status == STATUS_NO_SUCH_VERTEX) {
            problem_index(reterr, slice->axis.count);
        }
        STATUS_TRY(status);
    } while (name_scanner_take(scanner, ','));
    return name_scanner_expect(scanner, ']', reterr);
}

/* ---- Ranges ---- */

/* Digits, or nothing at all, which leaves the value. */
static bool parse_bound(const char *bytes, size_t size, int64_t *value)
{
    if (strspn(bytes, "0123456789") < size) {
        return false;
    }
    return size == 0 || number_parse_integer(bytes, size, value);
}

/* A number in digits, with a sign perhaps; nothing at all is one too. */
static bool is_bound(const char *bytes, size_t size)
{
    const size_t sign = size > 0 && (bytes[0] == '-' || bytes[0] == '+');

    return strspn(bytes + sign, "0123456789") >= size - sign;
}

/* Numbers around colons, which are meant as a range and are none: a name of that form is quoted. */
static bool is_broken_range(const char *text)
{
    const char *colon = strchr(text, ':');

    while (colon != NULL && is_bound(text, (size_t)(colon - text))) {
        text = colon + 1;
        colon = strchr(text, ':');
        if (colon == NULL) {
            return is_bound(text, strlen(text));
        }
    }
    return false;
}

static enum status set_range(struct slice *slice, uint32_t n, const char *parameter, int64_t first,
                             int64_t stop, struct problem *reterr)
{
    if (first > stop || stop > n) {
        problem_set(reterr, STATUS_BAD_PARAMETER,
                    "%s=%" PRId64 ":%" PRId64 " lies outside the matrix, of %" PRIu32
                    " rows and columns.",
                    parameter, first, stop, n);
        problem_hint(reterr, "a:b are those from a up to, not with, b, counted from 0.");
        return STATUS_BAD_PARAMETER;
    }
    slice->axis = (struct axis){NULL, (uint32_t)first, (uint32_t)(stop - first)};
    return STATUS_OK;
}

/* ---- Lists ---- */

/* A name from its opening quote; *at moves behind the closing one. */
static enum status add_quoted(struct slice *slice, const struct vertex_names *names,
                              const char *parameter, const char **at, struct problem *reterr)
{
    struct text name = {0};
    enum status status;

    for (++*at; **at != '\0' && (**at != '"' || (*at)[1] == '"'); ++*at) {
        *at += **at == '"';
        text_append_char(&name, **at);
    }
    if (**at == '\0') {
        status =
            problem_set(reterr, STATUS_BAD_PARAMETER, "A quote in %s does not end.", parameter);
    } else if (text_status(&name) != STATUS_OK) {
        status = problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    } else {
        ++*at;
        status = slice_add(slice, names, name.bytes == NULL ? "" : name.bytes, name.size, reterr);
    }
    text_finish(&name);
    return status;
}

enum status slice_parse(struct slice *slice, const struct vertex_names *names,
                        const char *parameter, const char *text, struct problem *reterr)
{
    const uint32_t n = vertex_names_count(names);
    const char *at = text;
    enum status status;
    int64_t first = 0;
    int64_t stop = n;
    uint32_t nameless;

    if (text == NULL) {
        slice_all(slice, names);
        return STATUS_OK;
    }
    const char *colon = strchr(text, ':');

    if (colon != NULL && parse_bound(text, (size_t)(colon - text), &first) &&
        parse_bound(colon + 1, strlen(colon + 1), &stop)) {
        return set_range(slice, n, parameter, first, stop, reterr);
    }
    if (is_broken_range(text) || (text[0] == '\0' && !vertex_names_find(names, "", 0, &nameless))) {
        problem_set(reterr, STATUS_BAD_PARAMETER,
                    "%s=%.64s is neither a range nor a list of names.", parameter, text);
        problem_hint(reterr, "a:b are those from a up to, not with, b, counted from 0; a name of "
                             "such a form is put in double quotes.");
        return STATUS_BAD_PARAMETER;
    }
    do {
        if (*at == '"') {
            status = add_quoted(slice, names, parameter, &at, reterr);
        } else {
            const size_t size = strcspn(at, ",");

            status = slice_add(slice, names, at, size, reterr);
            at += size;
        }
        if (status == STATUS_OK && *at != ',' && *at != '\0') {
            status = problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "In %s something follows a quoted name.", parameter);
        }
    } while (status == STATUS_OK && *at++ == ',');
    return status;
}
