/* The file of a graph that a test has made. */
#pragma once

#include "server/store/graph_file.h"

/* Puts the graph's file under its id; returns the bytes of it. */
uint64_t fixture_put_graph(int folder, const char *id, const struct graph *graph);
