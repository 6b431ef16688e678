/* Prints JSON whole or not at all: json_dumps of jansson 2.14 leaves out the name of a member for
 * which its text could not grow, and tells nobody. */
#pragma once

#include <stddef.h>

struct json_t;

/* The text, to be freed with free(); NULL without memory. root may be NULL, and so is the text
 * then. flags: as of json_dumps. */
char *json_text_print(const struct json_t *root, size_t flags);
