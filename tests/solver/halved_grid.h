/* A square grid of roads with a plan as a planner would make it: cut in halves by a line of
 * vertices, each half again, down to what fits a few tiles; the lines after what they cut. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

struct halved_grid {
    struct graph *graph;
    struct plan *plan; /* symmetric unless the graph is directed */
};

/* side x side vertices, weights 1 to 100. Ends the program when memory is short. */
struct halved_grid halved_grid_make(uint32_t side, bool directed, uint32_t tile);
void halved_grid_finish(struct halved_grid *grid);
