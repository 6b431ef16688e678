/* A square grid of roads with a plan that resembles the planner's plans: a line of vertices divides
 * the grid into two halves, and each half is divided again until it has at most one tile of
 * vertices. Each line comes after the two halves that it separates. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

struct halved_grid {
    struct graph *graph;
    struct plan *plan; /* the plan is symmetric unless the graph is directed */
};

/* Makes side x side vertices, with weights from 1 to 100. Ends the program if memory runs out. */
struct halved_grid halved_grid_make(uint32_t side, bool directed, uint32_t tile);
void halved_grid_finish(struct halved_grid *grid);
