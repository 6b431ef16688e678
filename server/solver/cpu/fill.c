#include "server/solver/cpu/tiles.h"

#include <math.h>
#include <string.h>

struct fill {
    const struct graph *graph;
    const struct cpu_tiles *tiles;
    bool symmetric;
};

static bool has_bit(const uint64_t *bits, uint32_t tile_count, uint32_t row_tile,
                    uint32_t column_tile)
{
    const size_t bit = (size_t)row_tile * tile_count + column_tile;
    return (bits[bit / 64] >> (bit % 64) & 1) != 0;
}

/* A tile that is reached but has no edge is fresh when it is first a target. */
static bool is_filled(const struct fill *fill, uint32_t row_tile, uint32_t column_tile)
{
    const struct plan *plan = fill->tiles->plan;
    if (fill->symmetric && row_tile < column_tile) {
        return false;
    }
    return plan->edge_tiles == NULL ||
           has_bit(plan->edge_tiles, plan->tile_count, row_tile, column_tile) ||
           !has_bit(plan->reached_tiles, plan->tile_count, row_tile, column_tile);
}

static double unreachable(enum arithmetic arithmetic)
{
    static const double values[ARITHMETIC_COUNT] = {
        [ARITHMETIC_I4] = UNREACHABLE_I4,
        [ARITHMETIC_NARROW] = NARROW_UNREACHABLE,
        [ARITHMETIC_F4] = INFINITY,
        [ARITHMETIC_F8] = INFINITY,
    };
    return values[arithmetic];
}

/* Copies the first element, then all that is there already, behind itself. */
static void clear_block(const struct cpu_tiles *tiles, struct cpu_block block)
{
    const size_t size = tiles->element_bytes;
    const size_t count = block.stride * block.rows;
    cpu_tiles_store(tiles->arithmetic, block.elements, 0, unreachable(tiles->arithmetic));
    for (size_t done = 1; done < count; done *= 2) {
        const size_t more = count - done < done ? count - done : done;
        memcpy((unsigned char *)block.elements + done * size, block.elements, more * size);
    }
}

static uint32_t position(const struct cpu_tiles *tiles, uint32_t vertex)
{
    return tiles->position_of != NULL ? tiles->position_of[vertex] : vertex;
}

static uint32_t vertex_at(const struct cpu_tiles *tiles, uint32_t position)
{
    return tiles->plan->vertex_at != NULL ? tiles->plan->vertex_at[position] : position;
}

/* The edges of a vertex, in its row or, the way back, in its column. Targets ascend, and so the
 * tiles mostly do: that of the edge before is kept. */
static void set_edges(const struct fill *fill, uint32_t at, bool back)
{
    const struct cpu_tiles *tiles = fill->tiles;
    const struct graph *graph = fill->graph;
    const uint32_t vertex = vertex_at(tiles, at);
    const uint32_t own = tiles->tile_of[at];
    const size_t inside = at - tiles->begin[own];
    uint32_t other = UINT32_MAX;
    struct cpu_block block = {0};
    for (uint64_t edge = graph->row_offset[vertex]; edge < graph->row_offset[vertex + 1]; edge++) {
        const uint32_t to = position(tiles, graph->target[edge]);
        if (tiles->tile_of[to] != other) {
            other = tiles->tile_of[to];
            block = back ? cpu_tiles_block(tiles, other, own) : cpu_tiles_block(tiles, own, other);
        }
        const size_t across = to - tiles->begin[other];
        const bool kept = !fill->symmetric || (back ? other >= own : own >= other);
        if (kept) {
            cpu_tiles_store(tiles->arithmetic, block.elements,
                            back ? across * block.stride + inside : inside * block.stride + across,
                            graph_weight(graph, edge));
        }
    }
}

static void set_diagonal(const struct cpu_tiles *tiles, uint32_t tile)
{
    const struct cpu_block block = cpu_tiles_block(tiles, tile, tile);
    for (uint32_t row = 0; row < block.rows; row++) {
        cpu_tiles_store(tiles->arithmetic, block.elements, row * (block.stride + 1), 0);
    }
}

static void fill_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct fill *fill = context;
    const struct cpu_tiles *tiles = fill->tiles;
    const uint32_t band = (uint32_t)task;
    for (uint32_t tile = 0; tile < tiles->tile_count; tile++) {
        if (is_filled(fill, band, tile)) {
            clear_block(tiles, cpu_tiles_block(tiles, band, tile));
        }
    }
    set_diagonal(tiles, band);
    for (uint32_t row = tiles->begin[band]; row < tiles->begin[band + 1]; row++) {
        set_edges(fill, row, false);
    }
}

/* The way back of each undirected edge. Its own pass: it writes into the rows of other tasks. */
static void fill_columns(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct fill *fill = context;
    const struct cpu_tiles *tiles = fill->tiles;
    for (uint32_t column = tiles->begin[task]; column < tiles->begin[task + 1]; column++) {
        set_edges(fill, column, true);
    }
}

void cpu_fill_edges(struct cpu_pool *pool, const struct graph *graph, const struct cpu_tiles *tiles,
                    bool symmetric)
{
    struct fill fill = {graph, tiles, symmetric};
    cpu_pool_run(pool, tiles->tile_count, fill_rows, &fill);
    if (!graph->directed) {
        cpu_pool_run(pool, tiles->tile_count, fill_columns, &fill);
    }
}
