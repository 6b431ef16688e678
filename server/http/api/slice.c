#include "server/http/api/slice.h"

#include "proto/number.h"
#include "proto/read/fields.h"
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
    if (slice->axis.count < slice->capacity) {
        return STATUS_OK;
    }
    uint32_t *list = capacity > UINT32_MAX ? NULL : realloc(slice->list, capacity * sizeof(*list));
    if (list == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the request.");
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

static enum status scan_names(struct slice *slice, const struct vertex_names *names,
                              struct name_scanner *scanner, struct problem *reterr)
{
    STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
    if (name_scanner_accept(scanner, ']')) {
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
    } while (name_scanner_accept(scanner, ','));
    return name_scanner_expect(scanner, ']', reterr);
}

static enum status scan_count(struct name_scanner *scanner, int64_t *ret_count,
                              struct problem *reterr)
{
    struct scanned_name number = {0};
    STATUS_TRY(name_scanner_number(scanner, &number, reterr));
    if (!number_parse_integer(number.bytes, number.size, ret_count)) {
        *ret_count = 0;
    }
    return STATUS_OK;
}

enum status slice_scan_object(struct slice *const slices[2], const char *const *keys,
                              const struct request *request, int64_t *count, struct problem *reterr)
{
    const struct text *body = &request->document;
    const struct vertex_names *names = result_names(request->result);
    struct name_scanner scanner;
    bool seen[3] = {false};
    name_scanner_init(&scanner, body->bytes, body->size, request->match.route->shape);
    STATUS_TRY(name_scanner_expect(&scanner, '{', reterr));
    if (!name_scanner_accept(&scanner, '}')) {
        do {
            size_t key;
            STATUS_TRY(name_scanner_key(&scanner, keys, &key, reterr));
            if (seen[key]) {
                return name_scanner_refuse(&scanner, "a key occurs twice", reterr);
            }
            seen[key] = true;
            STATUS_TRY(key == 2 ? scan_count(&scanner, count, reterr)
                                : scan_names(slices[key], names, &scanner, reterr));
        } while (name_scanner_accept(&scanner, ','));
        STATUS_TRY(name_scanner_expect(&scanner, '}', reterr));
    }
    for (size_t i = 0; i < 2; i++) {
        if (!seen[i]) {
            slice_all(slices[i], names);
        }
    }
    return name_scanner_end(&scanner, reterr);
}

/* Parses a bound of a range. An empty bound leaves *value unchanged. */
static bool parse_bound(const char *bytes, size_t size, int64_t *value)
{
    if (strspn(bytes, "0123456789") < size) {
        return false;
    }
    return size == 0 || number_parse_integer(bytes, size, value);
}

/* Returns whether the text looks like a malformed range; a name of such a form must be quoted. */
static bool is_broken_range(const char *text)
{
    return strchr(text, ':') != NULL && text[strspn(text, "0123456789+-:")] == '\0';
}

static enum status set_range(struct slice *slice, uint32_t n, const char *parameter, int64_t first,
                             int64_t stop, struct problem *reterr)
{
    if (first > stop || stop > n) {
        return problem_refuse(reterr, STATUS_BAD_PARAMETER,
                              "a:b selects the vertices from a to b - 1, counted from 0.",
                              "%s=%" PRId64 ":%" PRId64
                              " lies outside the matrix, which has %" PRIu32 " rows and columns.",
                              parameter, first, stop, n);
    }
    slice->axis = (struct axis){NULL, (uint32_t)first, (uint32_t)(stop - first)};
    return STATUS_OK;
}

static enum status add_names(struct slice *slice, const struct vertex_names *names,
                             const char *parameter, const char *text, struct problem *reterr)
{
    struct text unquoted = {0};
    struct field_cursor cursor = {.delimiter = ',',
                                  .scratch = text_reserve(&unquoted, strlen(text) + 1)};
    struct problem problem;
    struct field name;
    enum status status = STATUS_OK;
    if (cursor.scratch == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the request.");
    }
    field_cursor_begin(&cursor, text, strlen(text));
    while (status == STATUS_OK && cursor.more) {
        status =
            field_cursor_next(&cursor, &name, &problem) == STATUS_OK
                ? slice_add(slice, names, name.bytes, name.size, reterr)
                : problem_set(reterr, STATUS_BAD_PARAMETER, "%s: %s", parameter, problem.detail);
    }
    text_finish(&unquoted);
    return status;
}

enum status slice_parse(struct slice *slice, const struct vertex_names *names,
                        const char *parameter, const char *text, struct problem *reterr)
{
    const uint32_t n = vertex_names_count(names);
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
        return problem_refuse(reterr, STATUS_BAD_PARAMETER,
                              "a:b selects the vertices from a to b - 1, counted from 0; put a "
                              "name of this form in double quotes.",
                              "%s=%.64s is neither a range nor a list of vertex names.", parameter,
                              text);
    }
    return add_names(slice, names, parameter, text, reterr);
}
