/* Reads test graphs from bytes and files with the product's own readers. */
#pragma once

#include "proto/graph.h"
#include "proto/read/reader.h"

/* Reads a graph. If the bytes are refused, prints the reason on standard error and returns NULL. */
struct graph *graph_source_read(enum format format, const struct graph_options *options,
                                const char *bytes, size_t size);
/* Reads a graph from a file, whose extension determines the format. */
struct graph *graph_source_open(const char *path);
