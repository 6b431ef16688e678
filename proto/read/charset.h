/* Converts other charsets to UTF-8, with bounded memory, from pieces that may be cut anywhere. A
 * converter belongs to one thread at a time; after a failure it can only be destroyed. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* Size of a buffer for the name of any charset, including the NUL. */
#define CHARSET_NAME_SIZE 16

/* Looks up a charset by name, ignoring case, and returns its standard name, which is "utf-8" for
 * ASCII too. STATUS_BAD_PARAMETER, with a list of charsets, if the charset is not supported. */
MUST_CHECK enum status charset_choose(const char *name, char ret_charset[CHARSET_NAME_SIZE],
                                      struct problem *reterr);
/* Loads the conversion tables of the C library, because a sandboxed process cannot open their
 * files. Called once, before threads are started. A failure is reported later, by
 * charset_converter_create. */
void charset_load(void);

/* Callback that receives the text in UTF-8. */
typedef enum status (*charset_take)(void *context, const char *bytes, size_t size,
                                    struct problem *reterr);

struct charset_converter;

/* Creates a converter. charset: a name from charset_choose. STATUS_BAD_PARAMETER when the C library
 * does not support it, STATUS_NO_MEMORY. */
MUST_CHECK enum status charset_converter_create(const char *charset, charset_take take,
                                                void *context,
                                                struct charset_converter **ret_converter);
void charset_converter_destroy(struct charset_converter *converter);
/* Converts a piece of text. STATUS_BAD_GRAPH, with line and column, for bytes that are invalid in
 * the charset; else the status of `take`. */
MUST_CHECK enum status charset_converter_feed(struct charset_converter *converter,
                                              const char *bytes, size_t size,
                                              struct problem *reterr);
/* Ends the text: converts or refuses bytes that were held back at the end of the last piece. */
MUST_CHECK enum status charset_converter_end(struct charset_converter *converter,
                                             struct problem *reterr);
