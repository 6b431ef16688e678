#include "proto/text.h"

#include "proto/number.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_finish(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->size = 0;
    text->failed = false;
    if (text->bytes != NULL) {
        text->bytes[0] = '\0';
    }
}

char *text_reserve(struct text *text, size_t size)
{
    size_t needed;
    size_t capacity;
    char *bytes;

    if (text->failed || __builtin_add_overflow(text->size, size, &needed) ||
        needed >= SIZE_MAX / 2) {
        goto fail;
    }
    if (needed < text->capacity) {
        return text->bytes + text->size;
    }
    capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity <= needed) {
        capacity *= 2;
    }
    bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        goto fail;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return bytes + text->size;
fail:
    text->failed = true;
    return NULL;
}

void text_advance(struct text *text, size_t size)
{
    text->size += size;
    text->bytes[text->size] = '\0';
}

void text_grow_and_append(struct text *text, const void *bytes, size_t size)
{
    char *to = text_reserve(text, size);

    if (to == NULL) {
        return;
    }
    if (size > 0) {
        memcpy(to, bytes, size);
    }
    text_advance(text, size);
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments;
    char *printed = NULL;

    va_start(arguments, format);
    const int size = vasprintf(&printed, format, arguments);
    va_end(arguments);
    if (size < 0) {
        text->failed = true;
        return;
    }
    text_append(text, printed, (size_t)size);
    free(printed);
}

/* Returns the length of the UTF-8 sequence at bytes (RFC 3629), 0 if it is invalid. */
static size_t sequence_size(const unsigned char *bytes, size_t size)
{
    unsigned char lead = bytes[0];
    unsigned char low = 0x80;
    unsigned char high = 0xBF;

    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0xE0) {
        low = 0xA0;
    } else if (lead == 0xED) {
        high = 0x9F;
    } else if (lead == 0xF0) {
        low = 0x90;
    } else if (lead == 0xF4) {
        high = 0x8F;
    }
    if (size < length || bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xBF) {
            return 0;
        }
    }
    return length;
}

size_t text_utf8_size(const char *bytes, size_t size)
{
    size_t at = 0;
    size_t length = 1;

    while (at < size && length > 0) {
        length = sequence_size((const unsigned char *)bytes + at, size - at);
        at += length;
    }
    return at;
}

static void append_escaped(struct text *text, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    char escape[2] = {'\\', c < sizeof(letters) ? letters[c] : '\0'};

    if (escape[1] != '\0') {
        text_append(text, escape, 2);
    } else {
        text_printf(text, "\\u%04x", (unsigned)c);
    }
}

void text_append_json_string(struct text *text, const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    const unsigned char *end = at + size;

    text_append_char(text, '"');
    while (at < end) {
        size_t length = sequence_size(at, (size_t)(end - at));

        if (length == 0) {
            text_append_string(text, "\xEF\xBF\xBD");
        } else if (*at < 0x20 || *at == 0x7F || *at == '"' || *at == '\\') {
            append_escaped(text, *at);
        } else {
            text_append(text, at, length);
        }
        at += length == 0 ? 1 : length;
    }
    text_append_char(text, '"');
}

size_t text_mark_size(const char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

enum status text_status(const struct text *text)
{
    return text->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

char *text_take(struct text *text, size_t *ret_size)
{
    if (text->bytes == NULL) {
        text_append(text, "", 0);
    }
    if (text->failed) {
        text_finish(text);
    }
    char *bytes = text->bytes;
    if (ret_size != NULL) {
        *ret_size = text->size;
    }
    *text = (struct text){0};
    return bytes;
}

static void append_json(struct text *text, json_t *root)
{
    const json_type type = json_typeof(root);
    char number[NUMBER_PRINT_SIZE];
    const char *key;
    json_t *member;
    size_t index;
    bool is_first = true;

    if (type == JSON_OBJECT) {
        text_append_char(text, '{');
        json_object_foreach(root, key, member)
        {
            text_append_string(text, is_first ? "" : ",");
            text_append_json_string(text, key, strlen(key));
            is_first = false;
            text_append_char(text, ':');
            append_json(text, member);
        }
        text_append_char(text, '}');
    } else if (type == JSON_ARRAY) {
        text_append_char(text, '[');
        json_array_foreach(root, index, member)
        {
            text_append_string(text, index == 0 ? "" : ",");
            append_json(text, member);
        }
        text_append_char(text, ']');
    } else if (type == JSON_STRING) {
        text_append_json_string(text, json_string_value(root), json_string_length(root));
    } else if (type == JSON_INTEGER) {
        text_append(text, number, number_print_integer(json_integer_value(root), number));
    } else if (type == JSON_REAL) {
        text_append(text, number, number_print_real(json_real_value(root), false, number));
    } else {
        text_append_string(text, type == JSON_TRUE    ? "true"
                                 : type == JSON_FALSE ? "false"
                                                      : "null");
    }
}

char *text_print_json(struct json_t *root)
{
    struct text text = {0};

    if (root == NULL) {
        return NULL;
    }
    append_json(&text, root);
    return text_take(&text, NULL);
}

bool text_lists_tag(const char *list, const char *tag, bool is_weak_comparison)
{
    const size_t size = strlen(tag);
    const bool is_start = tag[size - 1] != '"';
    const char *at = list;

    while (*at != '\0') {
        at += strspn(at, " \t,");
        if (is_weak_comparison && strncmp(at, "W/", 2) == 0) {
            at += 2;
        }
        const size_t length = strcspn(at, " \t,");
        if ((length == 1 && *at == '*') ||
            ((length == size || (is_start && length > size)) && strncmp(at, tag, size) == 0)) {
            return true;
        }
        at += length;
    }
    return false;
}
