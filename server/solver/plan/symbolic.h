/* The symbolic pass: from an order, tiles and pivots to the whole plan with its lists, by looking
 * at which tiles can have a finite entry and never at a weight. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* More tiles along an edge than this have no plan of their own: a round's products are counted in
 * 32 bits. */
#define PLAN_TILES_MAX 65535

/* Input of plan_symbolic_make; all of it is borrowed for the call. */
struct plan_outline {
    uint32_t *vertex_at;  /* position -> vertex: all vertices of the graph */
    uint32_t *tile_begin; /* tile_count + 1 positions, from 0 to the vertex count */
    uint32_t tile_count;
    uint32_t tile;   /* no tile is wider, and none is empty */
    uint32_t *pivot; /* tile_count: every tile once, in the order of elimination */
    /* A round takes the next pivots for as long as they are independent of those that it has, by
     * the tiles that are reached when it begins; so pivots that are to share a round stand next to
     * each other. */
    bool symmetric; /* of an undirected graph, not otherwise */
};

/* The plan's targets stand row by row, columns ascending; a target's products in the order of the
 * pivots; the panels of a pivot ascending. Each pivot's panels are all tiles of its row and column
 * that are reached when its round begins, so no plan over this outline has fewer products.
 *
 * The summary gets the kind and the work fraction: additions over n^3, each panel and target with
 * the true widths of its tiles, and those of a symmetric plan counted for both halves. That is the
 * sum over the pivots p of w (w + left) (w + right), where w is the width of p and left and right
 * those of all its panels; 1 where nothing is left out.
 *
 * O(m + T^2 + what is listed + T/64 for each left panel). An outline that breaks the rules above
 * ends the program. STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_symbolic_make(const struct graph *graph,
                                          const struct plan_outline *outline,
                                          struct plan **ret_plan);
