/* The tiles of a matrix that can have a finite entry: one bit per tile. Rows begin on word
 * boundaries, so that two rows are joined word by word. Owned by the caller that initialised it. */
#pragma once

#include "proto/graph.h"

#define TILE_MAP_WORD_BITS 64

struct tile_map {
    uint32_t tile_count; /* number of tiles along an edge of the matrix */
    size_t row_words;
    uint64_t *words; /* bits of the tiles, tile_count rows */
};

/* Initialises a map with all bits clear. STATUS_NO_MEMORY. */
MUST_CHECK enum status tile_map_init(struct tile_map *map, uint32_t tile_count);
/* Frees the map. Accepts a zeroed map. */
void tile_map_finish(struct tile_map *map);

static inline uint64_t *tile_map_row(const struct tile_map *map, uint32_t row_tile)
{
    return map->words + row_tile * map->row_words;
}

static inline bool tile_map_has(const struct tile_map *map, uint32_t row_tile, uint32_t column_tile)
{
    const uint64_t word = tile_map_row(map, row_tile)[column_tile / TILE_MAP_WORD_BITS];
    return (word >> column_tile % TILE_MAP_WORD_BITS & 1) != 0;
}

static inline void tile_map_add(struct tile_map *map, uint32_t row_tile, uint32_t column_tile)
{
    tile_map_row(map, row_tile)[column_tile / TILE_MAP_WORD_BITS] |=
        UINT64_C(1) << column_tile % TILE_MAP_WORD_BITS;
}

/* Adds the tiles of the other row to the row of row_tile. */
void tile_map_join_row(struct tile_map *map, uint32_t row_tile, uint32_t other_row_tile);

/* Adds the tiles that have an edge, in both directions if undirected. tile_of: vertex -> tile. */
void tile_map_add_edges(struct tile_map *map, const struct graph *graph, const uint32_t *tile_of);

/* Adds the tiles to a bitmap in the layout of a plan, which has no gaps between rows. packed has
 * tile_count^2 bits, in whole words. */
void tile_map_pack(const struct tile_map *map, uint64_t *packed);
