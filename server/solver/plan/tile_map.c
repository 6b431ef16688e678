#include "server/solver/plan/tile_map.h"

#include <stdlib.h>

enum status tile_map_init(struct tile_map *map, uint32_t tile_count)
{
    const size_t row_words = ((size_t)tile_count + TILE_MAP_WORD_BITS - 1) / TILE_MAP_WORD_BITS;
    uint64_t *words = calloc((size_t)tile_count + 1, (row_words + 1) * sizeof(*words));
    if (words == NULL) {
        return STATUS_NO_MEMORY;
    }
    *map = (struct tile_map){.tile_count = tile_count, .row_words = row_words, .words = words};
    return STATUS_OK;
}

void tile_map_finish(struct tile_map *map)
{
    free(map->words);
    *map = (struct tile_map){0};
}

void tile_map_join_row(struct tile_map *map, uint32_t row_tile, uint32_t other_row_tile)
{
    uint64_t *to = tile_map_row(map, row_tile);
    const uint64_t *from = tile_map_row(map, other_row_tile);
    for (size_t word = 0; word < map->row_words; word++) {
        to[word] |= from[word];
    }
}

void tile_map_add_edges(struct tile_map *map, const struct graph *graph, const uint32_t *tile_of)
{
    for (uint32_t source = 0; source < graph->vertex_count; source++) {
        const uint32_t tile = tile_of[source];
        const uint64_t end = graph->row_offset[source + 1];
        for (uint64_t edge = graph->row_offset[source]; edge < end; edge++) {
            const uint32_t other = tile_of[graph->target[edge]];
            tile_map_add(map, tile, other);
            if (!graph->directed) {
                tile_map_add(map, other, tile);
            }
        }
    }
}

/* No row has bits beyond its end, so to[1] is written only if it is within the packed map. */
void tile_map_pack(const struct tile_map *map, uint64_t *packed)
{
    for (uint32_t row = 0; row < map->tile_count; row++) {
        for (size_t word = 0; word < map->row_words; word++) {
            const uint64_t bits = tile_map_row(map, row)[word];
            const size_t bit = (size_t)row * map->tile_count + word * TILE_MAP_WORD_BITS;
            const size_t shift = bit % TILE_MAP_WORD_BITS;
            uint64_t *to = packed + bit / TILE_MAP_WORD_BITS;
            to[0] |= bits << shift;
            if (shift > 0 && bits >> (TILE_MAP_WORD_BITS - shift) != 0) {
                to[1] |= bits >> (TILE_MAP_WORD_BITS - shift);
            }
        }
    }
}
