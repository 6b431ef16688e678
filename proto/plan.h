/* What a solver executes: a vertex order padded to tile boundaries and, pivot block by pivot
 * block, the tiles that must be touched. Floyd-Warshall is exact for every pivot order, and a tile
 * product with an all-unreachable operand changes nothing, so a plan may leave such tiles out.
 *
 * One step closes the diagonal tile of its pivot block, then updates the row panel (pivot, j) for
 * each j of row_tiles and the column panel (i, pivot) for each i of column_tiles, then every
 * interior tile (i, j) of column_tiles x row_tiles. The lists may include the pivot tile itself,
 * already final by then, which executors skip: so the steps of the dense plan share one list of all
 * tiles. Immutable; owned by whoever created it. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_kind {
    PLAN_DENSE = 0,        /* every tile in every step, in order; one list serves all */
    PLAN_NESTED_DISSECTION /* lists of their own */
};

struct plan_step {
    uint32_t pivot_tile;       /* index of the pivot's tile row and column */
    uint32_t width;            /* pivots in it that are real vertices, 1..tile */
    const uint32_t *row_tiles; /* ascending; may list pivot_tile too, which executors skip */
    uint32_t row_tile_count;
    const uint32_t *column_tiles;
    uint32_t column_tile_count;
};

/* What people are told of a plan. */
struct plan_summary {
    enum plan_kind kind;
    uint32_t parts;
    uint32_t largest_separator;
    double work_fraction; /* tile products in the plan over those of the dense plan */
    double planning_s;
};

struct plan {
    struct plan_summary summary;
    uint32_t vertex_count;
    uint32_t tile;             /* vertices per tile edge */
    uint32_t tile_count;       /* tiles along one edge of the padded matrix */
    const uint32_t *vertex_of; /* padded row -> vertex or NO_VERTEX; NULL = identity */
    struct plan_step *steps;
    uint32_t step_count;
    uint32_t *lists;    /* storage behind all lists of the steps */
    size_t list_length; /* entries in it */
};

void plan_destroy(struct plan *plan);

/* "dense", "nested_dissection". */
const char *plan_kind_name(enum plan_kind kind);
