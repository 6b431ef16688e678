/* Computes distances from one source by Dijkstra's algorithm with a binary heap: an independent
 * reference for graphs too large for the oracle. Weights must be at least 0. */
#pragma once

#include "proto/graph.h"

struct dijkstra;

/* Ends the program if memory runs out. */
struct dijkstra *dijkstra_create(const struct graph *graph);
void dijkstra_destroy(struct dijkstra *dijkstra);
/* Returns vertex_count distances, +infinity where unreachable; borrowed until the next call. */
const double *dijkstra_run(struct dijkstra *dijkstra, uint32_t source);
