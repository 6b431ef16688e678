/* A square grid of roads with a plan like a planner's: the grid is halved by a line of vertices,
 * and each half again, down to parts of a few tiles; lines come after the parts that they
 * separate. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

struct halved_grid {
    struct graph *graph;
    struct plan *plan; /* symmetric unless the graph is directed */
};

/* side x side vertices, weights 1 to 100. Ends the program if memory runs out. */
struct halved_grid halved_grid_make(uint32_t side, bool directed, uint32_t tile);
void halved_grid_finish(struct halved_grid *grid);
