/* Computes distances from one source with Dijkstra's algorithm and a binary heap. It is an
 * independent reference for graphs that are too large for the oracle. Weights must be at least
 * 0. */
#pragma once

#include "proto/graph.h"

struct dijkstra;

/* Ends the program if memory runs out. */
struct dijkstra *dijkstra_create(const struct graph *graph);
void dijkstra_destroy(struct dijkstra *dijkstra);
/* Returns vertex_count distances, +infinity for unreachable vertices. The array is valid until the
 * next call. */
const double *dijkstra_run(struct dijkstra *dijkstra, uint32_t source);
