/* A growable run of bytes: the output side of the writers. A failed allocation is remembered, so
 * that a caller appends freely and asks once, at the end. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *bytes; /* NUL-terminated once something was appended */
    size_t size;
    size_t capacity;
    bool failed;
};

/* A zeroed struct text is empty and valid. */
void text_finish(struct text *text);
void text_clear(struct text *text);
/* Room for size more bytes at the end, to be filled and then added by text_advance: NULL once
 * memory ran out. */
char *text_reserve(struct text *text, size_t size);
/* Adds the first size bytes of that room. */
void text_advance(struct text *text, size_t size);
/* text_append, where there is no room yet. */
void text_grow_and_append(struct text *text, const void *bytes, size_t size);

/* Inlined: most of what is appended is short, and known to the compiler. */
static inline void text_append(struct text *text, const void *bytes, size_t size)
{
    if (text->failed || size >= text->capacity - text->size) {
        text_grow_and_append(text, bytes, size);
        return;
    }
    if (size > 0) {
        memcpy(text->bytes + text->size, bytes, size);
    }
    text->size += size;
    text->bytes[text->size] = '\0';
}

static inline void text_append_char(struct text *text, char c)
{
    text_append(text, &c, 1);
}

static inline void text_append_string(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes: escapes controls, quotes and backslash; bytes that are not UTF-8
 * become U+FFFD. */
void text_append_json_string(struct text *text, const char *bytes, size_t size);
/* The bytes that are UTF-8 (RFC 3629), up to the first that is not: all of them in UTF-8. */
size_t text_utf8_size(const char *bytes, size_t size);
/* STATUS_NO_MEMORY when any append failed. */
/* The bytes of a UTF-8 byte order mark at the begin: 3 or 0. */
size_t text_mark_size(const char *bytes, size_t size);
MUST_CHECK enum status text_status(const struct text *text);
/* The bytes, moved to the caller (free with free()), who asked text_status first; the text is empty
 * after. ret_size may be NULL. NULL when even the empty string cannot be allocated. */
char *text_take(struct text *text, size_t *ret_size);

struct json_t;
/* JSON whole or not at all, to be freed with free(): NULL without memory and for a root of NULL.
 * Compact, with each number as the shortest decimal that is read as it. root is not changed. */
char *text_print_json(struct json_t *root);

/* Whether a list of entity tags (RFC 9110 section 13.1) names the strong tag (with its quotes), or
 * is "*". A tag without its closing quote stands for all that begin with it. A weak tag counts
 * where the comparison is weak, as that of If-None-Match, and not that of If-Match. */
bool text_lists_tag(const char *list, const char *tag, bool is_weak_comparison);
