/* The tiles of a solve: this module fills them, floyd_warshall.h solves them, and finish.h turns
 * them into the matrix. The solver's thread owns a struct cpu_tiles.
 *
 * The tiles are stored without padding, in the n x n elements of the final matrix or in separate
 * memory of the same size. A row of tiles is a band, with n elements for each of its rows. In a
 * band the tiles are stored one after the other, each row-major. A tile is therefore contiguous,
 * which suits caches and page tables: rows at a distance of a power of two would evict each other.
 *
 * Rows and columns are positions of the plan. Elements have the type of the arithmetic; in 16 bits
 * they fill the first half of an i4 matrix.
 *
 * With several ranks, each rank stores only its own bands, one after the other. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"
#include "server/solver/cpu/pool.h"
#include "server/solver/ranks.h"

/* Options for solving tiles and for turning them into the matrix. */
struct cpu_solve_options {
    bool symmetric; /* only tiles on and below the diagonal are solved, and are then mirrored */
    /* Some weights are below 0, so that unreachable integers may become smaller during the solve
     * and must be made canonical at its end. */
    bool negative;
    uint32_t decimals; /* decimals of an f8 matrix, whose tiles are scaled integers; 0 = none */
    const struct observer *observer; /* may be NULL */
};

struct cpu_tiles {
    void *elements; /* borrowed: row_count x n elements of the arithmetic */
    enum arithmetic arithmetic;
    uint32_t element_bytes;
    uint32_t vertex_count;
    uint32_t tile_count;
    const struct plan *plan;
    const struct ranks *ranks; /* borrowed; NULL = all bands are stored here */
    uint32_t row_count;        /* rows of the bands stored here */
    const uint32_t *begin;     /* first position of each tile, tile_count + 1 entries */
    const uint32_t *stored_at; /* first row of each band stored here */
    uint32_t
        *position_of;  /* vertex -> position; NULL = each vertex has the position of its number */
    uint32_t *tile_of; /* position -> tile */
    uint32_t *storage; /* allocation of the arrays above that do not belong to the plan */
};

/* Borrows plan and ranks; ranks may be NULL. The caller sets elements. STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_tiles_init(const struct plan *plan, const struct ranks *ranks,
                                      enum arithmetic arithmetic, struct cpu_tiles *ret_tiles);
void cpu_tiles_finish(struct cpu_tiles *tiles);

uint32_t cpu_tiles_element_bytes(enum arithmetic arithmetic);

/* Returns the rank that stores a band. Bands are dealt to the ranks forwards, then backwards, so
 * that all ranks get about as many bands, and as many tiles of a triangle. */
static inline uint32_t cpu_tiles_rank_of(const struct cpu_tiles *tiles, uint32_t band)
{
    const uint32_t count = tiles->ranks != NULL ? tiles->ranks->count : 1;
    const uint32_t turn = band % (2 * count);
    return turn < count ? turn : 2 * count - 1 - turn;
}
static inline bool cpu_tiles_has(const struct cpu_tiles *tiles, uint32_t band)
{
    return tiles->ranks == NULL || cpu_tiles_rank_of(tiles, band) == tiles->ranks->rank;
}

/* Returns the number of vertices along a tile's edge. */
uint32_t cpu_tiles_width(const struct cpu_tiles *tiles, uint32_t tile);

/* Returns a tile of a band that is stored here. */
struct cpu_block cpu_tiles_block(const struct cpu_tiles *tiles, uint32_t row_tile,
                                 uint32_t column_tile);

/* Sets an element of a block by its index; the value must be valid in the arithmetic. In 16 bits,
 * an edge of NARROW_UNREACHABLE or more is stored as unreachable: it is longer than every distance,
 * so no shortest path uses it. */
static inline void cpu_tiles_store(enum arithmetic arithmetic, void *elements, size_t index,
                                   double value)
{
    switch (arithmetic) {
    case ARITHMETIC_I4:
        ((int32_t *)elements)[index] = (int32_t)value;
        break;
    case ARITHMETIC_NARROW:
        ((int16_t *)elements)[index] =
            value < NARROW_UNREACHABLE ? (int16_t)value : NARROW_UNREACHABLE;
        break;
    case ARITHMETIC_F4:
        ((float *)elements)[index] = (float)value;
        break;
    case ARITHMETIC_F8:
        ((double *)elements)[index] = value;
        break;
    case ARITHMETIC_COUNT:
        break;
    }
}

/* Sets every entry: 0 on the diagonal, weights of edges, unreachable elsewhere. Tiles that the plan
 * first writes as fresh are skipped. With symmetric, for undirected graphs, sets only tiles on and
 * below the diagonal. The weights must fit the arithmetic (graph_choose_kind,
 * distance_range_within). */
void cpu_tiles_fill(struct cpu_pool *pool, const struct graph *graph, const struct cpu_tiles *tiles,
                    bool symmetric);

/* Returns true if no diagonal entry is below 0. Needed only for floats: rounding may make a cycle
 * of length 0 negative after its last vertex was the pivot, when no round checks it any more. */
bool cpu_tiles_check_diagonal(const struct cpu_tiles *tiles);
