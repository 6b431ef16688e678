/* Reading graphs in tests: any bytes, cut anywhere, and whether two graphs are the same. */
#pragma once

#include "proto/read/reader.h"

#include <stdlib.h>
#include <string.h>

/* Feeds pieces of this size; 0 = of sizes that vary. Each piece is copied to storage of its own, so
 * that a sanitizer sees reads beyond it. */
enum status read_graph(enum format format, const struct graph_options *options, const char *bytes,
                       size_t size, size_t piece, struct graph **ret_graph, struct problem *reterr);

/* The same in two pieces, the first one of this size. */
enum status read_graph_cut(enum format format, const struct graph_options *options,
                           const char *bytes, size_t size, size_t cut, struct graph **ret_graph,
                           struct problem *reterr);

/* The same of a text, in pieces of 5 bytes. */
enum status read_text_with(enum format format, const char *text,
                           const struct graph_options *options, struct graph **ret_graph,
                           struct problem *reterr);

/* The graph of a text that is read without options; the test fails where it is refused. */
struct graph *read_text(enum format format, const char *text);

bool same_graph(const struct graph *a, const struct graph *b);
