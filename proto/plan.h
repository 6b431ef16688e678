/* Execution plan of a solver: a vertex order cut into tiles and, round by round, the tiles that
 * must be touched. Floyd-Warshall is exact for every pivot order, and a tile product with an
 * all-unreachable operand changes nothing, so a plan may omit such tiles.
 *
 * The matrix is cut into tile_count x tile_count tiles. Tile t has the positions [tile_begin[t],
 * tile_begin[t + 1]), at most `tile` of them, and vertex_at maps positions to vertices. An executor
 * may pad each tile to full size or keep the matrix dense: the plan does not depend on it.
 *
 * The dense plan is the trivial plan: the position of every vertex is its number, every tile but
 * the last is full, and there is one round per tile that touches everything. It has no arrays.
 *
 * In any other plan a round has one or more pivot tiles that are independent of each other: no
 * finite entry lies in a tile between two of them. The round
 *    1. closes each pivot tile (p, p): Floyd-Warshall within the tile;
 *    2. updates its panels: each left tile (i, p) by the product (i, p) x (p, p), each right tile
 *      (p, j) by (p, p) x (p, j);
 *    3. updates each target tile (i, j) by its products, one for each pivot p of the round that has
 *      both (i, p) and (p, j) in its panels. All products of a target are consecutive, so that one
 *      task owns the tile.
 * Any superset of the needed panels and targets gives the same matrix. A symmetric plan, for an
 * undirected graph, lists only targets with i >= j, and the left and right panels of a pivot are
 * the same list: (p, j) is the transpose of (j, p).
 *
 * A plan is immutable: any thread may read it. Its creator owns it. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_kind {
    PLAN_DENSE = 0,        /* every tile in every round, in order */
    PLAN_NESTED_DISSECTION /* vertex order from nested dissection, with lists of tiles */
};

struct plan_pivot {
    uint32_t tile; /* row and column of the pivot tile in the grid of tiles */
    /* Panels: entries [begin, begin + count) of the round's left_tiles and right_tiles. */
    uint32_t left_begin;
    uint32_t left_count;
    uint32_t right_begin;
    uint32_t right_count;
};

/* One product of a target tile: (i, p) x (p, j). The inner dimension is the width of tile p. */
struct plan_product {
    uint32_t left;  /* slot of (i, p): an index into the round's left_tiles */
    uint32_t right; /* slot of (p, j): an index into the round's right_tiles */
    uint32_t pivot; /* pivot of the product: an index into the round's pivots */
};

struct plan_target {
    uint32_t row_tile;
    uint32_t column_tile;
    uint32_t product_begin; /* first index into the round's products */
    uint32_t product_count; /* number of products, at least 1 */
    /* No earlier round wrote to the tile and no edge lies in it: all entries are unreachable, so
     * the solver need neither fill the tile beforehand nor read it. */
    bool fresh;
};

struct plan_round {
    const struct plan_pivot *pivots;
    uint32_t pivot_count;
    const uint32_t *left_tiles; /* i of each (i, p), grouped by pivot; never p */
    uint32_t left_count;
    const uint32_t *right_tiles; /* j of each (p, j), grouped by pivot; never p */
    uint32_t right_count;
    const struct plan_target *targets; /* each target tile at most once; no panel or pivot tile */
    uint32_t target_count;
    const struct plan_product *products;
    uint32_t product_count;
};

/* Summary of a plan, for the documents that users read. */
struct plan_summary {
    enum plan_kind kind;
    uint32_t parts; /* number of parts of the dissection; 1 in the dense plan, 0 without vertices */
    uint32_t largest_separator; /* number of vertices in the largest separator; 0 if none */
    double work_fraction;       /* number of additions, relative to the dense plan */
    double planning_s;
    bool cached; /* whether the order, or the fact that no order pays off, was cached */
};

struct plan {
    struct plan_summary summary;
    uint32_t vertex_count;
    uint32_t tile;       /* maximum number of vertices in a row or column of a tile */
    uint32_t tile_count; /* number of tiles along one edge of the matrix */
    bool symmetric; /* as described above; the dense plan is not symmetric and serves all graphs */
    double expected_s; /* seconds that all rounds take by the planner's model; 0 = unknown */
    /* The following are NULL in the dense plan, where round_count = tile_count: */
    uint32_t *vertex_at;  /* position -> vertex, a permutation of all vertices */
    uint32_t *tile_begin; /* tile_count + 1 positions, ascending */
    /* Bit sets of tiles: bit i * tile_count + j of an array of little-endian 64-bit words is tile
     * (i, j). edge_tiles: tiles with an edge or on the diagonal, to be filled before the first
     * round. reached_tiles: tiles that may have a finite entry after the last round. If a round
     * touches a tile that is not in edge_tiles, the first touch is as a fresh target. A symmetric
     * plan sets both (i, j) and (j, i). */
    uint64_t *edge_tiles;
    uint64_t *reached_tiles;
    struct plan_round *rounds;
    uint32_t round_count;
    /* Storage of the rounds: each list holds the entries of all rounds, one after the other, so
     * that an executor may process the list as a whole. */
    struct plan_pivot *pivots; /* tile_count entries */
    uint32_t *left_tiles;
    size_t left_count;
    uint32_t *right_tiles; /* NULL in a symmetric plan: a round's right_tiles = left_tiles */
    size_t right_count;
    struct plan_target *targets;
    size_t target_count;
    struct plan_product *products;
    size_t product_count;
};

void plan_destroy(struct plan *plan);

/* Returns the summary as a JSON object: a new reference, NULL when out of memory. */
struct json_t;
struct json_t *plan_summary_json(const struct plan_summary *summary);

/* Returns "dense" or "nested_dissection". */
const char *plan_kind_name(enum plan_kind kind);
