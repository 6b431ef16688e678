/* A cost model of plans, with the parameters of a solver. A round closes its pivot tiles by
 * Floyd-Warshall, then updates its panels, then its targets. The tiles of panels and targets are
 * distributed over units that work in parallel; each of the two phases takes at least the time of
 * one tile. */
#pragma once

#include "proto/plan.h"

struct plan_cost {
    uint32_t tile;         /* vertices per tile edge */
    uint32_t threads;      /* threads that make the plan */
    uint32_t units;        /* tiles that are computed in parallel */
    uint32_t granule;      /* the depth of a product is rounded up to a multiple of this */
    uint32_t edge_granule; /* rows and columns of a tile are rounded up to a multiple of this;
                            * `tile` if all tiles are padded */
    double round_s;        /* seconds of overhead per round */
    double product_s;      /* seconds of a tile product of full depth on one unit */
    double touch_s;        /* seconds to read and write a tile on one unit */
    double dense_s; /* seconds of a dense solve of this graph; 0 = unknown, computed from the other
                       parameters */
    /* Seconds to find the separators of one level of the tree, per vertex and entry of the pattern;
     * 0 = separators are searched for at any cost. */
    double separator_s;
};

/* METIS takes 0.09 us per vertex and entry on roads and meshes, and 0.2 us on random graphs. */
#define PLAN_SEPARATOR_S 0.15e-6

/* Returns the seconds of a solve by the dense plan, with half of the products if symmetric. */
double plan_cost_dense(const struct plan_cost *cost, uint32_t vertex_count, bool symmetric);

/* Returns the seconds of one round of a plan, computed from the round's pivots and panels. */
double plan_cost_round(const struct plan_cost *cost, const struct plan *plan,
                       const struct plan_round *round);
