/* Reads graphs from bytes that are split into pieces, and compares graphs. */
#pragma once

#include "proto/read/reader.h"

#include <stdlib.h>
#include <string.h>

/* Reads a graph from bytes, in pieces of `piece` bytes (0 = random sizes). Each piece is copied to
 * a separate allocation, so that a sanitizer detects reads beyond it. */
enum status read_graph(enum format format, const struct graph_options *options, const char *bytes,
                       size_t size, size_t piece, struct graph **ret_graph, struct problem *reterr);

/* Reads like read_graph, but in two pieces, the first of `cut` bytes. */
enum status read_graph_cut(enum format format, const struct graph_options *options,
                           const char *bytes, size_t size, size_t cut, struct graph **ret_graph,
                           struct problem *reterr);

/* Reads a text like read_graph, in pieces of 5 bytes. */
enum status read_text_with(enum format format, const char *text,
                           const struct graph_options *options, struct graph **ret_graph,
                           struct problem *reterr);

/* Reads a graph from a text without options; the test fails if the text is refused. */
struct graph *read_text(enum format format, const char *text);
bool same_graph(const struct graph *a, const struct graph *b);
