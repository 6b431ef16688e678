/* A cost model of plans, with a solver's own figures.
 *
 * A round closes its pivot tiles, updates its panels and then its targets; each of the three waits
 * for the one before. In the second and third the tiles are shared out to units that work side by
 * side, and none of them takes less than one tile does. */
#pragma once

#include "server/solver/plan/symbolic.h"

struct plan_cost {
    uint32_t tile;         /* vertices per tile edge, of every plan for this solver */
    uint32_t threads;      /* processor threads that make the plan */
    uint32_t units;        /* tiles that are worked on side by side */
    uint32_t granule;      /* a product's depth is rounded up to a multiple of this */
    uint32_t edge_granule; /* likewise a tile's rows and columns; `tile` where all are padded */
    double round_s;        /* each round, whatever is in it */
    double product_s;      /* one tile product of full depth, on one unit */
    double touch_s;        /* one tile read and written, on one unit */
    double dense_s; /* the dense solve of the graph in hand, where that is known; 0 = by the rest */
    /* Separators of one level of the tree, for each vertex and entry of the pattern; 0 = they are
     * looked for whatever that takes. */
    double separator_s;
};

/* Time that METIS takes, separator_s: 0.09 us on roads and meshes to 0.2 us on random graphs. */
#define PLAN_SEPARATOR_S 0.15e-6

/* Seconds of a solve by the dense plan; by the model half of it is computed when symmetric. */
double plan_cost_dense(const struct plan_cost *cost, uint32_t vertex_count, bool symmetric);

/* Seconds by the plan that plan_symbolic_make would make of the outline, without making it; or some
 * number above `limit_s` as soon as it is above that. tile_of: the tile of each vertex.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_cost_outline(const struct plan_cost *cost, const struct graph *graph,
                                         const struct plan_outline *outline,
                                         const uint32_t *tile_of, double limit_s,
                                         double *ret_seconds);
