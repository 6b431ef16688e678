/* Detects the format of an upload from its first bytes: a format that can be read, or a known
 * format that is refused with advice on how to convert it. Pure functions for any thread. */
#pragma once

#include "proto/format.h"
#include "proto/problem.h"
#include "proto/read/reader.h"

#include <stddef.h>

/* Number of bytes that sniff_refuse and sniff_format need, unless the file is shorter. */
#define READER_SNIFF_SIZE 4096
/* Refuses bytes of a known format that cannot be read, with the format's name and, in the hint, a
 * command that converts it; also refuses bytes that two formats fit. STATUS_BAD_GRAPH. */
MUST_CHECK enum status sniff_refuse(const char *bytes, size_t size, struct problem *reterr);
/* Guesses a graph format from the first bytes: the edge list if no other format fits, FORMAT_NONE
 * for unknown bytes that are not text. nthu is never guessed, because it has no signature. */
enum format sniff_format(const char *bytes, size_t size);

/* Returns whether the first bytes, `size` of them, are the whole file. */
bool sniff_is_complete(size_t size);
/* Parses the first bytes in this format. If they are the whole file, also ends the body. The caller
 * destroys the reader, even on failure. */
MUST_CHECK enum status sniff_read(enum format format, const struct graph_options *options,
                                  const char *bytes, size_t size, struct reader **ret_reader);
