/* The tiles of a solve: filled here, solved by floyd_warshall.h, and made a matrix by finish.h.
 *
 * The tiles lie in the n x n elements of the matrix that they become, or beside it in as many,
 * without padding. A row of tiles is a band, n elements for each of its rows, and in the band the
 * tiles stand one after the other, each row-major in itself. A tile is then one piece of memory,
 * which caches and page tables like: rows that lie a power of two apart would push each other out.
 *
 * Rows and columns are positions of the plan; numbers are those of the arithmetic, which in 16 bits
 * fill the first half of an i4 matrix.
 *
 * Where ranks solve together, each stores its own bands alone, one behind the other. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"
#include "server/solver/cpu/pool.h"
#include "server/solver/ranks.h"

struct cpu_tiles {
    void *elements; /* borrowed: row_count x n of the arithmetic */
    enum arithmetic arithmetic;
    uint32_t element_bytes;
    uint32_t vertex_count;
    uint32_t tile_count;
    const struct plan *plan;
    const struct ranks *ranks; /* borrowed; NULL = all bands are here */
    uint32_t row_count;        /* of the bands that are here */
    const uint32_t *begin;     /* tile_count + 1 positions */
    const uint32_t *stored_at; /* the first row of each band that is here among the elements */
    uint32_t *position_of;     /* vertex -> position; NULL = the same */
    uint32_t *tile_of;         /* position -> tile */
    uint32_t *storage;         /* behind the arrays that the plan does not have */
};

/* Borrows plan and ranks, which may be NULL. The elements are the caller's to set.
 * STATUS_NO_MEMORY.
 */
MUST_CHECK enum status cpu_tiles_init(const struct plan *plan, const struct ranks *ranks,
                                      enum arithmetic arithmetic, struct cpu_tiles *ret_tiles);
void cpu_tiles_finish(struct cpu_tiles *tiles);

uint32_t cpu_tiles_element_bytes(enum arithmetic arithmetic);

/* The rank that has a band, and whether it is this one. They take turns forwards, then backwards:
 * as many bands each, and of a triangle as many tiles. */
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

/* Vertices of a tile's edge. */
uint32_t cpu_tiles_width(const struct cpu_tiles *tiles, uint32_t tile);

/* A tile of a band that is here. */
struct cpu_block cpu_tiles_block(const struct cpu_tiles *tiles, uint32_t row_tile,
                                 uint32_t column_tile);

/* Sets an element of a block by its index; the value is one of the arithmetic. In 16 bits no
 * distance is as long as an edge above what they hold, so that it is as good as none. */
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

/* Sets every entry: 0 on the diagonal, weights of edges, unreachable elsewhere; but not those of
 * tiles that the plan first writes as fresh. With symmetric only tiles on and below the diagonal,
 * for undirected graphs. The weights fit the arithmetic (graph_choose_kind, and the proof for 16
 * bits). */
void cpu_tiles_fill(struct cpu_pool *pool, const struct graph *graph, const struct cpu_tiles *tiles,
                    bool symmetric);

/* True when no diagonal entry is below 0. Floats only: there a cycle of length 0 may round to less
 * after its last vertex was pivot. */
bool cpu_tiles_check_diagonal(const struct cpu_tiles *tiles);
