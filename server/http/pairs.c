#include "server/http/pairs.h"

#include "proto/number.h"

#include <jansson.h>
#include <string.h>

struct cursor {
    const char *first;
    const char *at;
    const char *end;
};

/* A vertex name: in the body, or in memory when it had escapes. */
struct name {
    const char *bytes;
    size_t size;
    json_t *unescaped;
};

static enum status refuse(const struct cursor *cursor, const char *wanted, struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_REQUEST,
                "The body is not {\"pairs\":[[source,target],...]}: %s.", wanted);
    problem_at(reterr, 0, (uint64_t)(cursor->at - cursor->first) + 1);
    return STATUS_BAD_REQUEST;
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && memchr(" \t\r\n", *cursor->at, 4) != NULL) {
        cursor->at++;
    }
}

static bool take(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c) {
        return false;
    }
    cursor->at++;
    return true;
}

static enum status expect(struct cursor *cursor, char c, struct problem *reterr)
{
    char wanted[] = "expected ' '";

    if (take(cursor, c)) {
        return STATUS_OK;
    }
    wanted[10] = c;
    return refuse(cursor, wanted, reterr);
}

/* The string from its opening quote; jansson undoes escapes, where there are any. */
static enum status take_string(struct cursor *cursor, struct name *ret_name, struct problem *reterr)
{
    const char *first = cursor->at;
    const char *at = first + 1;
    bool escaped = false;

    while (at < cursor->end && *at != '"' && (unsigned char)*at >= 0x20) {
        escaped |= *at == '\\';
        at += *at == '\\' && at + 1 < cursor->end ? 2 : 1;
    }
    if (at >= cursor->end || *at != '"') {
        return refuse(cursor, "a string does not end", reterr);
    }
    *ret_name = (struct name){.bytes = first + 1, .size = (size_t)(at - first) - 1};
    if (escaped) {
        ret_name->unescaped =
            json_loadb(first, (size_t)(at - first) + 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        if (ret_name->unescaped == NULL) {
            return refuse(cursor, "a string has a broken escape", reterr);
        }
        ret_name->bytes = json_string_value(ret_name->unescaped);
        ret_name->size = json_string_length(ret_name->unescaped);
    }
    cursor->at = at + 1;
    return STATUS_OK;
}

static enum status take_name(struct cursor *cursor, struct name *ret_name, struct problem *reterr)
{
    const char *first;
    double value;

    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at == '"') {
        return take_string(cursor, ret_name, reterr);
    }
    first = cursor->at;
    while (cursor->at < cursor->end && memchr(" \t\r\n,]", *cursor->at, 6) == NULL) {
        cursor->at++;
    }
    if (!number_parse_real(first, (size_t)(cursor->at - first), &value)) {
        cursor->at = first;
        return refuse(cursor, "a vertex is a string or a number", reterr);
    }
    *ret_name = (struct name){.bytes = first, .size = (size_t)(cursor->at - first)};
    return STATUS_OK;
}

static enum status take_pair(struct cursor *cursor, const struct pairs_visitor *visitor,
                             struct problem *reterr)
{
    struct name source = {0};
    struct name target = {0};
    enum status status = expect(cursor, '[', reterr);

    if (status == STATUS_OK) {
        status = take_name(cursor, &source, reterr);
    }
    if (status == STATUS_OK) {
        status = expect(cursor, ',', reterr);
    }
    if (status == STATUS_OK) {
        status = take_name(cursor, &target, reterr);
    }
    if (status == STATUS_OK) {
        status = expect(cursor, ']', reterr);
    }
    if (status == STATUS_OK) {
        status = visitor->pair(visitor->context, source.bytes, source.size, target.bytes,
                               target.size, reterr);
    }
    json_decref(source.unescaped);
    json_decref(target.unescaped);
    return status;
}

static enum status take_list(struct cursor *cursor, const struct pairs_visitor *visitor,
                             struct problem *reterr)
{
    enum status status = expect(cursor, '[', reterr);

    if (status != STATUS_OK || take(cursor, ']')) {
        return status;
    }
    do {
        status = take_pair(cursor, visitor, reterr);
    } while (status == STATUS_OK && take(cursor, ','));
    return status != STATUS_OK ? status : expect(cursor, ']', reterr);
}

enum status pairs_walk(const char *bytes, size_t size, const struct pairs_visitor *visitor,
                       struct problem *reterr)
{
    struct cursor cursor = {bytes, bytes, bytes + size};
    struct name key = {0};
    enum status status = expect(&cursor, '{', reterr);

    skip_blanks(&cursor);
    if (status == STATUS_OK && (cursor.at == cursor.end || *cursor.at != '"')) {
        status = refuse(&cursor, "expected \"pairs\"", reterr);
    }
    if (status == STATUS_OK) {
        status = take_string(&cursor, &key, reterr);
    }
    if (status == STATUS_OK && (key.size != 5 || memcmp(key.bytes, "pairs", 5) != 0)) {
        status = refuse(&cursor, "the only member is \"pairs\"", reterr);
    }
    json_decref(key.unescaped);
    if (status == STATUS_OK) {
        status = expect(&cursor, ':', reterr);
    }
    if (status == STATUS_OK) {
        status = take_list(&cursor, visitor, reterr);
    }
    if (status == STATUS_OK) {
        status = expect(&cursor, '}', reterr);
    }
    skip_blanks(&cursor);
    if (status == STATUS_OK && cursor.at != cursor.end) {
        status = refuse(&cursor, "something follows the object", reterr);
    }
    return status;
}
