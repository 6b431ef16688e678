/* The format of an upload by its first bytes: one that is read, or one that is refused by name with
 * a way to convert it. */
#pragma once

#include "proto/format.h"
#include "proto/problem.h"
#include "proto/read/reader.h"

#include <stddef.h>

/* How many bytes both functions want to see before they decide. */
#define READER_SNIFF_SIZE 4096
/* STATUS_BAD_GRAPH, with the name of the format and a line that converts it in the hint, when the
 * first bytes of a file are of a format that is known here and not read, or may be of two formats;
 * else STATUS_OK. */
MUST_CHECK enum status sniff_refuse(const char *bytes, size_t size, struct problem *reterr);
/* Guesses a graph format from the first bytes; the edge list when nothing else fits. nthu is
 * never guessed: FORMAT_NONE for other bytes that are not text. */
enum format sniff_format(const char *bytes, size_t size);

/* ---- For those that recognise a format ---- */

/* Whether the first bytes are the whole file. */
bool sniff_is_complete(size_t size);
/* Reads them as the format, to the end of the file if they are all. The caller destroys the reader,
 * whatever the status is. */
MUST_CHECK enum status sniff_read(enum format format, const struct graph_options *options,
                                  const char *bytes, size_t size, struct reader **ret_reader);
