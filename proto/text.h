/* A growable byte buffer for the output of writers. A failed allocation is remembered, so that a
 * caller appends without checks and calls text_status once, at the end. A buffer belongs to one
 * thread; a zeroed struct text is empty and valid. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    char *bytes; /* NUL-terminated after the first append */
    size_t size;
    size_t capacity;
    bool failed;
};

/* Releases the bytes; the buffer is then empty and may be reused. */
void text_finish(struct text *text);
void text_clear(struct text *text);
/* Returns space for `size` more bytes, to be filled before text_advance; NULL if out of memory. */
char *text_reserve(struct text *text, size_t size);
/* Appends the first `size` bytes of the reserved space. */
void text_advance(struct text *text, size_t size);
/* Appends bytes, growing the buffer first: the slow path of text_append. */
void text_grow_and_append(struct text *text, const void *bytes, size_t size);

/* text_append is inline because most strings are short and the compiler knows their size. */
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
/* Appends a JSON string with its quotes. Control characters, quotes and backslashes are escaped;
 * bytes that are not UTF-8 become U+FFFD. */
void text_append_json_string(struct text *text, const char *bytes, size_t size);
/* Returns the length of the longest prefix that is valid UTF-8 (RFC 3629). */
size_t text_utf8_size(const char *bytes, size_t size);
/* Returns the length of a UTF-8 byte order mark at the beginning: 3 or 0. */
size_t text_mark_size(const char *bytes, size_t size);
/* Returns STATUS_NO_MEMORY if any append has failed, else STATUS_OK. */
MUST_CHECK enum status text_status(const struct text *text);
/* Moves the bytes to the caller, who releases them with free(); NULL if any append has failed. The
 * buffer is empty afterwards. ret_size may be NULL. */
char *text_take(struct text *text, size_t *ret_size);

struct json_t;
/* Prints a JSON value compactly, with each number as the shortest decimal that parses to it.
 * Returns text to be released with free(); NULL when out of memory or if root is NULL. */
char *text_print_json(struct json_t *root);

/* Returns whether a list of entity tags (RFC 9110 section 13.1) is "*" or contains the strong tag,
 * which is given with its quotes. A tag without its closing quote matches every tag that begins
 * with it. A weak tag in the list matches in a weak comparison (If-None-Match), but not in a strong
 * one (If-Match). */
bool text_lists_tag(const char *list, const char *tag, bool is_weak_comparison);
