/* Detects the format of an upload by its first bytes: a format that is read, or one that is refused
 * by name with a way to convert it. Pure functions for any thread. */
#pragma once

#include "proto/format.h"
#include "proto/problem.h"
#include "proto/read/reader.h"

#include <stddef.h>

/* Bytes that both functions need for a decision, unless the file is shorter. */
#define READER_SNIFF_SIZE 4096
/* STATUS_BAD_GRAPH when the first bytes are of a known format that is not read, with its name and a
 * command that converts it in the hint, or when they may be of two formats; else STATUS_OK. */
MUST_CHECK enum status sniff_refuse(const char *bytes, size_t size, struct problem *reterr);
/* Guesses a graph format from the first bytes; the edge list when nothing else fits. nthu is never
 * guessed: other bytes that are not text give FORMAT_NONE. */
enum format sniff_format(const char *bytes, size_t size);

/* ---- For the detection functions of single formats ---- */

/* Returns whether the first bytes are the whole file. */
bool sniff_is_complete(size_t size);
/* Parses the first bytes in this format, to the end of the file if they are the whole file. The
 * caller destroys the reader, even on failure. */
MUST_CHECK enum status sniff_read(enum format format, const struct graph_options *options,
                                  const char *bytes, size_t size, struct reader **ret_reader);
