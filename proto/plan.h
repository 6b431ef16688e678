/* Execution plan of a solver: a vertex order cut into tiles and, round by round, the tiles that
 * must be touched. Floyd-Warshall is exact for every pivot order, and a tile product with an
 * all-unreachable operand changes nothing, so a plan may leave such tiles out.
 *
 * The matrix is cut into tile_count x tile_count tiles. Tile t has the positions
 * [tile_begin[t], tile_begin[t + 1]), at most `tile` of them, and vertex_at says which vertex
 * stands at a position. An executor may pad each tile to full size or keep the matrix dense: the
 * plan does not care.
 *
 * The dense plan is the trivial one: every vertex at its own place, every tile full but the last,
 * and one round per tile that touches everything. It has no arrays at all.
 *
 * In any other plan a round has one or more pivot tiles that are independent of each other: no
 * finite entry lies in a tile between two of them. The round
 *   1. closes each pivot tile (p, p): Floyd-Warshall within it;
 *   2. updates its panels: each left tile (i, p) by the product (i, p) x (p, p), each right tile
 *      (p, j) by (p, p) x (p, j);
 *   3. updates each target tile (i, j) by its products, one for each pivot p of the round that has
 *      both (i, p) and (p, j) in its panels. All products of a target stand together, so that one
 *      task owns the tile.
 * Any superset of the needed panels and targets gives the same matrix. Of a symmetric plan, for an
 * undirected graph, only targets with i >= j are listed, and the left and right panels of a pivot
 * are the same list: (p, j) is the transpose of (j, p).
 *
 * Immutable; owned by whoever created it. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_kind {
    PLAN_DENSE = 0,        /* every tile in every round, in order */
    PLAN_NESTED_DISSECTION /* an order of its own, lists of tiles */
};

struct plan_pivot {
    uint32_t tile; /* its tile row and column */
    /* Its panels: entries [begin, begin + count) of the round's left_tiles and right_tiles. */
    uint32_t left_begin;
    uint32_t left_count;
    uint32_t right_begin;
    uint32_t right_count;
};

/* One product of a target tile: (i, p) x (p, j). Its depth is the width of p's tile. */
struct plan_product {
    uint32_t left;  /* slot of (i, p): an index into the round's left_tiles */
    uint32_t right; /* slot of (p, j): an index into the round's right_tiles */
    uint32_t pivot; /* an index into the round's pivots */
};

struct plan_target {
    uint32_t row_tile;
    uint32_t column_tile;
    uint32_t product_begin; /* of the round's products */
    uint32_t product_count; /* at least 1 */
    /* Nothing was written to the tile before and no edge lies in it: all of it is unreachable, and
     * storage that nobody filled need not be read. */
    bool fresh;
};

struct plan_round {
    const struct plan_pivot *pivots;
    uint32_t pivot_count;
    const uint32_t *left_tiles; /* i of each (i, p), the pivots one after the other; never p */
    uint32_t left_count;
    const uint32_t *right_tiles; /* j of each (p, j), likewise */
    uint32_t right_count;
    const struct plan_target *targets; /* each tile at most once; no panel or pivot tile */
    uint32_t target_count;
    const struct plan_product *products;
    uint32_t product_count;
};

/* Summary of a plan, for the documents that users read. */
struct plan_summary {
    enum plan_kind kind;
    uint32_t parts;             /* 1 in the dense plan of any vertices */
    uint32_t largest_separator; /* vertices; 0 without any */
    double work_fraction;       /* additions of the plan over those of the dense plan */
    double planning_s;
    bool cached; /* the order was kept from an earlier graph, or that there is none that pays */
};

struct plan {
    struct plan_summary summary;
    uint32_t vertex_count;
    uint32_t tile;       /* the most vertices per tile edge */
    uint32_t tile_count; /* tiles along one edge of the matrix */
    bool symmetric;      /* see above; never of the dense plan, which serves both */
    double expected_s;   /* of its rounds, by the model that chose it; 0 = not known */
    /* NULL in the dense plan, with round_count = tile_count: */
    uint32_t *vertex_at;  /* position -> vertex, a permutation of all vertices */
    uint32_t *tile_begin; /* tile_count + 1 positions, ascending */
    /* Bit i * tile_count + j of 64-bit words, little end first: tile (i, j) is to be filled before
     * the first round, as it has an edge or is on the diagonal; and the same
     * after the last round: it may have a finite entry. What is touched and has no bit in
     * edge_tiles is first touched as a fresh target. Both halves are set in a symmetric plan. */
    uint64_t *edge_tiles;
    uint64_t *reached_tiles;
    struct plan_round *rounds;
    uint32_t round_count;
    /* The storage behind the rounds: the lists of all of them, one after the other, so that an
     * executor may take each kind of list as a whole. */
    struct plan_pivot *pivots; /* tile_count */
    uint32_t *left_tiles;
    size_t left_count;
    uint32_t *right_tiles; /* NULL in a symmetric plan, whose rounds name the left ones twice */
    size_t right_count;
    struct plan_target *targets;
    size_t target_count;
    struct plan_product *products;
    size_t product_count;
};

void plan_destroy(struct plan *plan);

/* As an object of a document: a new reference, NULL when out of memory. */
struct json_t;
struct json_t *plan_summary_json(const struct plan_summary *summary);

/* "dense", "nested_dissection". */
const char *plan_kind_name(enum plan_kind kind);
