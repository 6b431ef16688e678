/* Writes graph files for tests. */
#pragma once

#include "server/store/graph_file.h"

/* Writes the graph to a file named `id`; returns the size of the file in bytes. */
uint64_t fixture_put_graph(int folder, const char *id, const struct graph *graph);
