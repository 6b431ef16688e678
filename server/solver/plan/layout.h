/* How the parts of a dissection become tiles and an order of pivots: what is small is joined to
 * larger parts, each part starts on a tile boundary, and parts that are independent of each other
 * are pivots together. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"
#include "server/solver/order/order.h"

/* ---- plan/symbolic.c ---- */

/* The symbolic pass: from an order, tiles and pivots to the whole plan with its lists, by looking
 * at which tiles can have a finite entry and never at a weight. */

/* More tiles along an edge than this have no plan of their own: a round's products are counted in
 * 32 bits. */
#define PLAN_TILES_MAX 65535

/* Input of plan_symbolic_make; all of it is borrowed for the call. */
struct plan_outline {
    const uint32_t *vertex_at;  /* position -> vertex: all vertices of the graph */
    const uint32_t *tile_begin; /* tile_count + 1 positions, from 0 to the vertex count */
    uint32_t tile_count;
    uint32_t tile;         /* no tile is wider, and none is empty */
    const uint32_t *pivot; /* tile_count: every tile once, in the order of elimination */
    /* The most pivots of a round, 0 = no limit. A round takes the next pivots for as long as they
     * are independent of those that it has, by the tiles that are reached when it begins; so pivots
     * that are to share a round stand next to each other. */
    uint32_t round_limit;
    bool symmetric; /* of an undirected graph, not otherwise */
    /* Tiles to treat as if they had an edge, in the layout of the plan's own bitmaps; of a
     * symmetric plan both halves. NULL = none. */
    const uint64_t *extra_tiles;
};

/* Whether the outline keeps these rules, whatever its numbers; the tile count is within the limit.
 * ret_tile_of: gets the tile of each vertex, and has room for the tiles behind them. */
bool plan_outline_is_sound(const struct plan_outline *outline, uint32_t vertex_count,
                           uint32_t *ret_tile_of);

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

/* ---- plan/layout.c ---- */

/* How far the trees are cut back. */
struct plan_layout_options {
    uint32_t tile;
    uint32_t granule; /* tiles of one part are about equal, and multiples of this but the last */
    uint32_t leaf;    /* what has at most so many vertices is one part, separators and all */
    uint32_t clump;   /* the separators in what has at most so many are one part, after its leaves;
                         above it each separator is a part */
};

struct plan_layout {
    uint32_t *vertex_at;
    uint32_t *tile_begin;
    uint32_t *pivot;
    uint32_t *tile_of; /* by vertex */
    struct plan_part *parts;
    uint32_t tile_count;
    uint32_t part_count;
};

/* STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_layout_make(const struct order *order,
                                        const struct plan_layout_options *options,
                                        struct plan_layout *ret_layout);
/* Zeroed is allowed. */
void plan_layout_finish(struct plan_layout *layout);

/* The outline for plan_symbolic_make; its arrays are borrowed from the layout. */
struct plan_outline plan_layout_outline(const struct plan_layout *layout, uint32_t tile,
                                        bool symmetric);
