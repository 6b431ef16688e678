/* Graphs for the tests from bytes and files, through the product's own readers. */
#pragma once

#include "proto/graph.h"
#include "proto/read/reader.h"

/* NULL, with the reason on standard error, when the bytes are refused. */
struct graph *graph_source_read(enum format format, const struct graph_options *options,
                                const char *bytes, size_t size);
/* Format by the file's ending. */
struct graph *graph_source_open(const char *path);
