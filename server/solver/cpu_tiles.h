/* Where the tiles of a solve lie: in n x n elements without padding, those of the matrix that it
 * becomes or others beside it.
 *
 * Banded: a row of tiles is a band, n elements for each of its rows, and in the band the tiles
 * stand one after the other, each row-major in itself. A tile is then one piece of memory, which
 * caches and page tables like: rows that lie a power of two apart would push each other out. So
 * dense plans are solved.
 * Not banded: as in the finished matrix, tile rows n elements apart. For plans with an order of
 * their own, as taking that back moves every row anyway.
 *
 * Rows and columns are positions of the plan; numbers are those of the arithmetic, which in 16 bits
 * fill the first half of an i4 matrix. */
#pragma once

#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/solve_options.h"
#include "server/solver/cpu_kernel.h"

struct cpu_tiles {
    void *elements; /* borrowed */
    enum arithmetic arithmetic;
    uint32_t element_bytes;
    uint32_t vertex_count;
    uint32_t tile_count;
    bool banded;
    const struct plan *plan;
    const uint32_t *begin; /* tile_count + 1 positions */
    uint32_t *position_of; /* vertex -> position; NULL = the same */
    uint32_t *tile_of;     /* position -> tile */
    uint32_t *storage;     /* behind the arrays that the plan does not have */
};

/* Borrows plan and elements: n x n of the arithmetic. STATUS_NO_MEMORY. */
MUST_CHECK enum status cpu_tiles_init(const struct plan *plan, void *elements,
                                      enum arithmetic arithmetic, struct cpu_tiles *ret_tiles);
void cpu_tiles_finish(struct cpu_tiles *tiles);

uint32_t cpu_tiles_element_bytes(enum arithmetic arithmetic);

/* Vertices of a tile's edge. */
uint32_t cpu_tiles_width(const struct cpu_tiles *tiles, uint32_t tile);

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
