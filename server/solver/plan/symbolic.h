/* The symbolic pass: makes the complete plan with its lists from an order, tiles and pivots. It
 * only determines which tiles can have a finite entry, and reads no weights. */
#pragma once

#include "proto/graph.h"
#include "server/solver/plan/cost.h"

/* Maximum number of tiles along an edge, because the products of a round are counted in 32 bits. */
#define PLAN_TILES_MAX 65535

/* Input of plan_symbolic_make, borrowed for the call. */
struct plan_outline {
    uint32_t *vertex_at;  /* position -> vertex, for all vertices of the graph */
    uint32_t *tile_begin; /* tile_count + 1 positions, from 0 to the vertex count */
    uint32_t tile_count;
    uint32_t tile; /* limit on the width of a tile; no tile is empty */
    /* tile_count entries: every tile once, in the order of elimination. A round takes consecutive
     * pivots while they are independent, judged by the tiles that are reached when the round
     * begins. So pivots that share a round must be adjacent here. */
    uint32_t *pivot;
    bool symmetric; /* true exactly for undirected graphs */
};

/* Makes the plan of an outline by symbolic elimination. Targets are listed by row and column, the
 * products of a target in the order of the pivots, and the panels of a pivot in ascending order.
 * The panels of a pivot are all tiles of its row and column that are reached when its round begins,
 * so no plan of this outline has fewer products. The summary gets the kind and the work fraction:
 * additions divided by n^3, with the true widths of the tiles, and both halves of a symmetric plan.
 * The number of additions is the sum over all pivots p of w (w + left) (w + right), where w is the
 * width of p, and left and right are the total widths of its panels. The fraction is 1 if nothing
 * is omitted. O(m + T^2 + length of the lists + T/64 per left panel) for T tiles. Aborts the
 * program if an outline breaks the rules above. STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_symbolic_make(const struct graph *graph,
                                          const struct plan_outline *outline,
                                          struct plan **ret_plan);

/* Computes the seconds of the plan that plan_symbolic_make would make, without targets and
 * products. Stops as soon as the time exceeds `limit_s`, and then returns a number above the limit.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_symbolic_cost(const struct graph *graph,
                                          const struct plan_outline *outline,
                                          const struct plan_cost *cost, double limit_s,
                                          double *ret_seconds);
