/* Text in another charset than UTF-8: its bytes in any split become UTF-8. Memory is bounded. A
 * converter belongs to one thread at a time; after a failure it must only be destroyed. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* Room for the name of any charset, with its NUL. */
#define CHARSET_NAME_SIZE 16

/* The charset of this name as it is named here, "utf-8" for that and for ASCII. Case is not
 * significant. STATUS_BAD_PARAMETER when it is not read; the hint lists those that are. */
MUST_CHECK enum status charset_choose(const char *name, char ret_charset[CHARSET_NAME_SIZE],
                                      struct problem *reterr);
/* Loads what the C library converts with, since a confined process can open no file for it. Called
 * once, before there are threads; what fails here fails in charset_converter_create. */
void charset_load(void);

/* Takes the text in UTF-8. */
typedef enum status (*charset_take)(void *context, const char *bytes, size_t size,
                                    struct problem *reterr);

struct charset_converter;

/* The charset is one that charset_choose gave. STATUS_BAD_PARAMETER when the C library does not
 * have it, STATUS_NO_MEMORY. */
MUST_CHECK enum status charset_converter_create(const char *charset, charset_take take,
                                                void *context,
                                                struct charset_converter **ret_converter);
void charset_converter_destroy(struct charset_converter *converter);
/* STATUS_BAD_GRAPH, with the place in the text, for bytes that are not of the charset; else what
 * take says. */
MUST_CHECK enum status charset_converter_feed(struct charset_converter *converter,
                                              const char *bytes, size_t size,
                                              struct problem *reterr);
/* The end of the text: hands on what was held back. */
MUST_CHECK enum status charset_converter_end(struct charset_converter *converter,
                                             struct problem *reterr);
