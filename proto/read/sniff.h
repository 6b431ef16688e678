/* Detects the format of an upload from its first bytes: a format that can be read, or a known
 * format that is refused with advice on how to convert it. Pure functions for any thread. */
#pragma once

#include "proto/format.h"
#include "proto/problem.h"
#include "proto/read/reader.h"

#include <stddef.h>

/* Number of bytes that both functions need for a decision, unless the file is shorter. */
#define READER_SNIFF_SIZE 4096
/* Refuses, with STATUS_BAD_GRAPH, bytes of a known format that cannot be read, with its name and a
 * command that converts it in the hint, and bytes that could be in either of two formats. */
MUST_CHECK enum status sniff_refuse(const char *bytes, size_t size, struct problem *reterr);
/* Guesses a graph format from the first bytes; the edge list when no other format fits. nthu is
 * never guessed: other bytes that are not text give FORMAT_NONE. */
enum format sniff_format(const char *bytes, size_t size);

/* Returns whether the first bytes are the whole file. */
bool sniff_is_complete(size_t size);
/* Parses the first bytes in this format, and ends the body if they are the whole file. The caller
 * destroys the reader, even on failure. */
MUST_CHECK enum status sniff_read(enum format format, const struct graph_options *options,
                                  const char *bytes, size_t size, struct reader **ret_reader);
