#include "server/solver/cpu_mirror.h"

#include <string.h>

/* A cache line of 4-byte elements: lines are read, and written, whole while they are at hand. */
#define LINE 16

/* Edge of the squares that rows n elements apart are mirrored in: two tiles, as each of their rows
 * is a page of its own, which costs more to find than a tile's row to copy. */
#define SQUARE (2 * (size_t)CPU_TILE)

#define DEFINE_TRANSPOSE(type, name)                                                               \
    static void name(struct cpu_block from, struct cpu_block to)                                   \
    {                                                                                              \
        const type *source = from.elements;                                                        \
        type *target = to.elements;                                                                \
        for (size_t row0 = 0; row0 < from.rows; row0 += LINE) {                                    \
            const size_t row1 = from.rows - row0 < LINE ? from.rows : row0 + LINE;                 \
            for (size_t column = 0; column < from.columns; ++column) {                             \
                for (size_t row = row0; row < row1; ++row) {                                       \
                    target[column * to.stride + row] = source[row * from.stride + column];         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_TRANSPOSE(uint16_t, transpose_2)
DEFINE_TRANSPOSE(uint32_t, transpose_4)
DEFINE_TRANSPOSE(uint64_t, transpose_8)

/* to: as many rows as from has columns. */
static void transpose(struct cpu_block from, struct cpu_block to, uint32_t element_bytes)
{
    if (element_bytes == sizeof(uint16_t)) {
        transpose_2(from, to);
    } else if (element_bytes == sizeof(uint32_t)) {
        transpose_4(from, to);
    } else {
        transpose_8(from, to);
    }
}

static void mirror_within(struct cpu_block block, uint32_t element_bytes)
{
    for (size_t row = 1; row < block.rows; ++row) {
        for (size_t column = 0; column < row; ++column) {
            unsigned char *elements = block.elements;
            memcpy(elements + (column * block.stride + row) * element_bytes,
                   elements + (row * block.stride + column) * element_bytes, element_bytes);
        }
    }
}

static void mirror_tiles(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct cpu_tiles *tiles = context;
    const uint32_t band = (uint32_t)task;
    mirror_within(cpu_tiles_block(tiles, band, band), tiles->element_bytes);
    for (uint32_t tile = band + 1; tile < tiles->tile_count; ++tile) {
        transpose(cpu_tiles_block(tiles, tile, band), cpu_tiles_block(tiles, band, tile),
                  tiles->element_bytes);
    }
}

/* Of rows n elements apart, whatever tiles they are in. */
static struct cpu_block square(const struct cpu_tiles *tiles, size_t row, size_t column)
{
    const size_t n = tiles->vertex_count;
    unsigned char *elements = tiles->elements;
    return (struct cpu_block){.elements = elements + (row * n + column) * tiles->element_bytes,
                              .stride = n,
                              .rows = (uint32_t)(n - row < SQUARE ? n - row : SQUARE),
                              .columns = (uint32_t)(n - column < SQUARE ? n - column : SQUARE)};
}

static void mirror_squares(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct cpu_tiles *tiles = context;
    const size_t begin = task * SQUARE;
    mirror_within(square(tiles, begin, begin), tiles->element_bytes);
    for (size_t row = begin + SQUARE; row < tiles->vertex_count; row += SQUARE) {
        transpose(square(tiles, row, begin), square(tiles, begin, row), tiles->element_bytes);
    }
}

void cpu_mirror_run(struct cpu_pool *pool, const struct cpu_tiles *tiles)
{
    struct cpu_tiles context = *tiles;
    if (tiles->banded) {
        cpu_pool_run(pool, tiles->tile_count, mirror_tiles, &context);
    } else {
        cpu_pool_run(pool, (tiles->vertex_count + SQUARE - 1) / SQUARE, mirror_squares, &context);
    }
}
