#include "server/solver/cpu/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

enum status cpu_tiles_init(const struct plan *plan, const struct ranks *ranks,
                           enum arithmetic arithmetic, struct cpu_tiles *ret_tiles)
{
    CHECK(plan->tile <= CPU_TILE);
    /* The storage contains the arrays that the plan lacks: the beginning of each tile (dense plan
     * only), the tile of each position, the position of each vertex (other plans only), and the
     * first row of each band (with ranks only). */
    const uint32_t n = plan->vertex_count;
    const bool ordered = plan->vertex_at != NULL;
    const size_t begins = ordered ? 0 : (size_t)plan->tile_count + 1;
    const size_t places = begins + n + (ordered ? n : 0);
    uint32_t *const storage =
        malloc((places + (ranks != NULL ? plan->tile_count : 0) + 1) * sizeof(*storage));
    if (storage == NULL) {
        return STATUS_NO_MEMORY;
    }
    const uint32_t *const begin = ordered ? plan->tile_begin : storage;
    uint32_t *const tile_of = storage + begins;
    uint32_t *const position_of = ordered ? tile_of + n : NULL;
    for (uint32_t tile = 0; tile < begins; tile++) {
        const uint64_t first = (uint64_t)tile * plan->tile;
        storage[tile] = first < n ? (uint32_t)first : n;
    }
    for (uint32_t tile = 0; tile < plan->tile_count; tile++) {
        for (uint32_t position = begin[tile]; position < begin[tile + 1]; position++) {
            tile_of[position] = tile;
        }
    }
    for (uint32_t position = 0; ordered && position < n; position++) {
        position_of[plan->vertex_at[position]] = position;
    }
    *ret_tiles = (struct cpu_tiles){
        .arithmetic = arithmetic,
        .element_bytes = cpu_tiles_element_bytes(arithmetic),
        .vertex_count = n,
        .tile_count = plan->tile_count,
        .plan = plan,
        .ranks = ranks,
        .row_count = n,
        .begin = begin,
        .stored_at = ranks != NULL ? storage + places : begin,
        .position_of = position_of,
        .tile_of = tile_of,
        .storage = storage,
    };
    if (ranks != NULL) {
        ret_tiles->row_count = 0;
        for (uint32_t band = 0; band < plan->tile_count; band++) {
            storage[places + band] = ret_tiles->row_count;
            ret_tiles->row_count +=
                cpu_tiles_has(ret_tiles, band) ? cpu_tiles_width(ret_tiles, band) : 0;
        }
    }
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
    const size_t offset = (size_t)tiles->stored_at[row_tile] * tiles->vertex_count +
                          (size_t)tiles->begin[column_tile] * rows;
    return (struct cpu_block){(unsigned char *)tiles->elements + offset * tiles->element_bytes,
                              columns, rows, columns};
}

struct fill {
    const struct graph *graph;
    const struct cpu_tiles *tiles;
    bool symmetric;
    bool back; /* true in the second pass, which sets reversed edges */
};

static bool has_bit(const uint64_t *bits, uint32_t tile_count, uint32_t row_tile,
                    uint32_t column_tile)
{
    const size_t bit = (size_t)row_tile * tile_count + column_tile;
    return (bits[bit / 64] >> (bit % 64) & 1) != 0;
}

/* Sets the tiles of a band to unreachable, and to 0 on the diagonal. */
static void clear_band(const struct fill *fill, uint32_t band)
{
    static const double unreachable[ARITHMETIC_COUNT] = {
        [ARITHMETIC_I4] = UNREACHABLE_I4,
        [ARITHMETIC_NARROW] = NARROW_UNREACHABLE,
        [ARITHMETIC_F4] = INFINITY,
        [ARITHMETIC_F8] = INFINITY,
    };
    const struct cpu_tiles *tiles = fill->tiles;
    const struct plan *plan = tiles->plan;
    for (uint32_t tile = 0; tile < tiles->tile_count; tile++) {
        /* A reached tile without edges is not cleared: it is first used as a fresh target. */
        if ((fill->symmetric && band < tile) ||
            (plan->edge_tiles != NULL && !has_bit(plan->edge_tiles, plan->tile_count, band, tile) &&
             has_bit(plan->reached_tiles, plan->tile_count, band, tile))) {
            continue;
        }
        /* Sets the first element, then doubles the filled part by copying it. */
        const struct cpu_block block = cpu_tiles_block(tiles, band, tile);
        const size_t size = tiles->element_bytes;
        const size_t count = block.stride * block.rows;
        cpu_tiles_store(tiles->arithmetic, block.elements, 0, unreachable[tiles->arithmetic]);
        for (size_t done = 1; done < count; done *= 2) {
            const size_t more = count - done < done ? count - done : done;
            memcpy((unsigned char *)block.elements + done * size, block.elements, more * size);
        }
    }
    const struct cpu_block own = cpu_tiles_block(tiles, band, band);
    for (uint32_t row = 0; row < own.rows; row++) {
        cpu_tiles_store(tiles->arithmetic, own.elements, row * (own.stride + 1), 0);
    }
}

/* Sets the edges of a vertex in its row or, with `back`, in its column. Targets ascend, so
 * consecutive edges are often in the same tile, whose block is reused. */
static void set_edges(const struct fill *fill, uint32_t at)
{
    const struct cpu_tiles *tiles = fill->tiles;
    const struct graph *graph = fill->graph;
    const bool back = fill->back;
    const uint32_t vertex = tiles->plan->vertex_at != NULL ? tiles->plan->vertex_at[at] : at;
    const uint32_t own = tiles->tile_of[at];
    const size_t inside = at - tiles->begin[own];
    uint32_t other = UINT32_MAX;
    struct cpu_block block = {0};
    for (uint64_t edge = graph->row_offset[vertex]; edge < graph->row_offset[vertex + 1]; edge++) {
        const uint32_t target = graph->target[edge];
        const uint32_t to = tiles->position_of != NULL ? tiles->position_of[target] : target;
        if (tiles->tile_of[to] != other) {
            other = tiles->tile_of[to];
            block = back ? cpu_tiles_block(tiles, other, own) : cpu_tiles_block(tiles, own, other);
        }
        const size_t across = to - tiles->begin[other];
        const bool kept = cpu_tiles_has(tiles, back ? other : own) &&
                          (!fill->symmetric || (back ? other >= own : own >= other));
        if (kept) {
            cpu_tiles_store(tiles->arithmetic, block.elements,
                            back ? across * block.stride + inside : inside * block.stride + across,
                            graph_weight(graph, edge));
        }
    }
}

static void fill_band(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct fill *fill = context;
    const uint32_t *begin = fill->tiles->begin + task;
    if (!fill->back && !cpu_tiles_has(fill->tiles, (uint32_t)task)) {
        return;
    }
    if (!fill->back) {
        clear_band(fill, (uint32_t)task);
    }
    for (uint32_t at = begin[0]; at < begin[1]; at++) {
        set_edges(fill, at);
    }
}

void cpu_tiles_fill(struct cpu_pool *pool, const struct graph *graph, const struct cpu_tiles *tiles,
                    bool symmetric)
{
    struct fill fill = {.graph = graph, .tiles = tiles, .symmetric = symmetric};
    cpu_pool_run(pool, tiles->tile_count, fill_band, &fill);
    if (!graph->directed) {
        /* Reversed edges need a second pass, because they write to rows of other tasks. */
        fill.back = true;
        cpu_pool_run(pool, tiles->tile_count, fill_band, &fill);
    }
}

bool cpu_tiles_check_diagonal(const struct cpu_tiles *tiles)
{
    for (uint32_t tile = 0; tile < tiles->tile_count; tile++) {
        for (uint32_t row = 0; cpu_tiles_has(tiles, tile) && row < cpu_tiles_width(tiles, tile);
             row++) {
            const struct cpu_block block = cpu_tiles_block(tiles, tile, tile);
            const size_t index = (size_t)row * (block.stride + 1);
            const double value = tiles->arithmetic == ARITHMETIC_F4
                                     ? (double)((float *)block.elements)[index]
                                     : ((double *)block.elements)[index];
            if (value < 0) {
                return false;
            }
        }
    }
    return true;
}
