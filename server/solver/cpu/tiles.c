#include "server/solver/cpu/tiles.h"

#include <stdlib.h>

uint32_t cpu_tiles_element_bytes(enum arithmetic arithmetic)
{
    static const uint32_t bytes[ARITHMETIC_COUNT] = {
        [ARITHMETIC_I4] = sizeof(int32_t),
        [ARITHMETIC_NARROW] = sizeof(int16_t),
        [ARITHMETIC_F4] = sizeof(float),
        [ARITHMETIC_F8] = sizeof(double),
    };
    return bytes[arithmetic];
}

/* begin, tile_of and position_of, as far as the plan needs them. */
static enum status allocate(struct cpu_tiles *tiles)
{
    const size_t n = tiles->vertex_count;
    const bool ordered = tiles->plan->vertex_at != NULL;
    const size_t begins = ordered ? 0 : (size_t)tiles->tile_count + 1;
    tiles->storage = malloc((begins + n + (ordered ? n : 0) + 1) * sizeof(*tiles->storage));
    if (tiles->storage == NULL) {
        return STATUS_NO_MEMORY;
    }
    tiles->begin = ordered ? tiles->plan->tile_begin : tiles->storage;
    tiles->tile_of = tiles->storage + begins;
    tiles->position_of = ordered ? tiles->tile_of + n : NULL;
    return STATUS_OK;
}

static void number_dense_tiles(struct cpu_tiles *tiles)
{
    for (uint32_t tile = 0; tile <= tiles->tile_count; tile++) {
        const uint64_t begin = (uint64_t)tile * tiles->plan->tile;
        tiles->storage[tile] = begin < tiles->vertex_count ? (uint32_t)begin : tiles->vertex_count;
    }
}

static void number_positions(struct cpu_tiles *tiles)
{
    for (uint32_t tile = 0; tile < tiles->tile_count; tile++) {
        for (uint32_t position = tiles->begin[tile]; position < tiles->begin[tile + 1];
             position++) {
            tiles->tile_of[position] = tile;
        }
    }
    for (uint32_t position = 0; tiles->position_of != NULL && position < tiles->vertex_count;
         position++) {
        tiles->position_of[tiles->plan->vertex_at[position]] = position;
    }
}

enum status cpu_tiles_init(const struct plan *plan, void *elements, enum arithmetic arithmetic,
                           struct cpu_tiles *ret_tiles)
{
    CHECK(plan->tile <= CPU_TILE);
    struct cpu_tiles tiles = {
        .elements = elements,
        .arithmetic = arithmetic,
        .element_bytes = cpu_tiles_element_bytes(arithmetic),
        .vertex_count = plan->vertex_count,
        .tile_count = plan->tile_count,
        .plan = plan,
    };
    const enum status status = allocate(&tiles);
    if (status != STATUS_OK) {
        return status;
    }
    if (plan->vertex_at == NULL) {
        number_dense_tiles(&tiles);
    }
    number_positions(&tiles);
    *ret_tiles = tiles;
    return STATUS_OK;
}

void cpu_tiles_finish(struct cpu_tiles *tiles)
{
    free(tiles->storage);
    tiles->storage = NULL;
}

uint32_t cpu_tiles_width(const struct cpu_tiles *tiles, uint32_t tile)
{
    return tiles->begin[tile + 1] - tiles->begin[tile];
}

struct cpu_block cpu_tiles_block(const struct cpu_tiles *tiles, uint32_t row_tile,
                                 uint32_t column_tile)
{
    const uint32_t rows = cpu_tiles_width(tiles, row_tile);
    const uint32_t columns = cpu_tiles_width(tiles, column_tile);
    const size_t offset = (size_t)tiles->begin[row_tile] * tiles->vertex_count +
                          (size_t)tiles->begin[column_tile] * rows;
    return (struct cpu_block){(unsigned char *)tiles->elements + offset * tiles->element_bytes,
                              columns, rows, columns};
}
