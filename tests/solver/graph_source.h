/* Reads test graphs from bytes and files with the product's own readers. */
#pragma once

#include "proto/graph.h"
#include "proto/read/reader.h"

/* Returns NULL if the bytes are refused, with the reason on standard error. */
struct graph *graph_source_read(enum format format, const struct graph_options *options,
                                const char *bytes, size_t size);
/* The file ending determines the format. */
struct graph *graph_source_open(const char *path);
