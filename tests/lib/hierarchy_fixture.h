/* Fixtures: a graph that resembles a grid of roads, and its hierarchy. */
#pragma once

#include "proto/hierarchy_search.h"
#include "server/solver/hierarchy/shape.h"
#include "tests/lib/range_fixture.h"

#define GRID_WIDTH 12
#define GRID_VERTICES (GRID_WIDTH * GRID_WIDTH)

/* Makes a grid of roads; if directed, the two directions of an edge have different weights. */
struct graph *make_grid(bool directed);

static const struct hierarchy_limits no_limits = {.entries = UINT64_MAX, .steps = 1e300};

struct hierarchy_shape *make_shape(const struct graph *graph);

/* Returns the bytes of the graph's hierarchy in aligned memory, which the caller frees. */
void *make_bytes(const struct graph *graph, enum kind kind, uint32_t threads, uint64_t *ret_size);

/* Computes the distance from source to target. The labels of both vertices are computed only for
 * this call. */
void compute_pair(const struct hierarchy *hierarchy, uint32_t source, uint32_t target,
                  void *ret_element);

/* Computes the rows of distances from the sources; returns the number of steps. */
size_t compute_rows(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                    void *rows);
