#include "tests/solver/halved_grid.h"

#include "server/solver/plan/layout.h"
#include "tests/solver/edge_list.h"
#include "tests/solver/shapes.h"

#include <stdlib.h>

/* A rectangle of the grid: columns [left, right) and rows [top, bottom). */
struct rectangle {
    uint32_t top;
    uint32_t bottom;
    uint32_t left;
    uint32_t right;
};

struct cutting {
    uint32_t side;
    uint32_t tile;
    uint32_t *vertex_at;
    uint32_t *tile_begin;
    uint32_t *level; /* level of each tile: 0 = leaves */
    uint32_t placed;
    uint32_t tile_count;
};

/* Places the rectangle's vertices in as few tiles as possible. Each tile is one level above the
 * previous tile, because edges connect the two tiles. */
static void place(struct cutting *cutting, struct rectangle part, uint32_t level)
{
    const uint32_t count = (part.bottom - part.top) * (part.right - part.left);
    const uint32_t tiles = (count + cutting->tile - 1) / cutting->tile;
    const uint32_t begin = cutting->placed;
    for (uint32_t row = part.top; row < part.bottom; ++row) {
        for (uint32_t column = part.left; column < part.right; ++column) {
            cutting->vertex_at[cutting->placed++] = row * cutting->side + column;
        }
    }
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        cutting->level[cutting->tile_count++] = level + tile;
        cutting->tile_begin[cutting->tile_count] =
            begin + (uint32_t)((uint64_t)count * (tile + 1) / tiles);
    }
}

/* Halves the rectangle recursively and places its tiles. Returns the first level above its
 * tiles. */
static uint32_t cut(struct cutting *cutting, struct rectangle part)
{
    const uint32_t height = part.bottom - part.top;
    const uint32_t width = part.right - part.left;
    if (height * width <= cutting->tile || height < 3 || width < 3) {
        place(cutting, part, 0);
        return (height * width + cutting->tile - 1) / cutting->tile;
    }
    struct rectangle first = part;
    struct rectangle line = part;
    struct rectangle second = part;
    if (width >= height) {
        const uint32_t middle = part.left + width / 2;
        first.right = line.left = middle;
        line.right = second.left = middle + 1;
    } else {
        const uint32_t middle = part.top + height / 2;
        first.bottom = line.top = middle;
        line.bottom = second.top = middle + 1;
    }
    const uint32_t after_first = cut(cutting, first);
    const uint32_t after_second = cut(cutting, second);
    const uint32_t level = after_first > after_second ? after_first : after_second;
    const uint32_t before = cutting->tile_count;
    place(cutting, line, level);
    return level + cutting->tile_count - before;
}

/* Returns the tiles ordered by level. Tiles of one level are independent and share a round. */
static uint32_t *order_pivots(const struct cutting *cutting)
{
    uint32_t *pivot = calloc((size_t)cutting->tile_count + 1, sizeof(*pivot));
    CHECK(pivot != NULL);
    uint32_t count = 0;
    for (uint32_t level = 0; count < cutting->tile_count; ++level) {
        for (uint32_t tile = 0; tile < cutting->tile_count; ++tile) {
            if (cutting->level[tile] == level) {
                pivot[count++] = tile;
            }
        }
    }
    return pivot;
}

static struct graph *make_graph(uint32_t side, bool directed)
{
    struct edge_list list = {.vertex_count = side * side, .directed = directed};
    uint64_t seed = side;
    for (uint32_t vertex = 0; vertex < side * side; ++vertex) {
        const uint32_t next[] = {vertex + 1, vertex + side};
        const bool there[] = {(vertex + 1) % side != 0, vertex + side < side * side};
        for (int way = 0; way < 2; ++way) {
            if (there[way]) {
                edge_list_add(&list, vertex, next[way], 1 + (double)shapes_random(&seed, 100));
                edge_list_add(&list, next[way], vertex, 1 + (double)shapes_random(&seed, 100));
            }
        }
    }
    struct graph *graph = edge_list_build(&list);
    edge_list_finish(&list);
    return graph;
}

struct halved_grid halved_grid_make(uint32_t side, bool directed, uint32_t tile)
{
    const uint32_t count = side * side;
    struct cutting cutting = {.side = side, .tile = tile};
    cutting.vertex_at = calloc((size_t)count + 1, sizeof(*cutting.vertex_at));
    cutting.tile_begin = calloc((size_t)count + 2, sizeof(*cutting.tile_begin));
    cutting.level = calloc((size_t)count + 1, sizeof(*cutting.level));
    CHECK(cutting.vertex_at != NULL && cutting.tile_begin != NULL && cutting.level != NULL);
    cut(&cutting, (struct rectangle){0, side, 0, side});
    uint32_t *pivot = order_pivots(&cutting);
    struct halved_grid grid = {make_graph(side, directed), NULL};
    const struct plan_outline outline = {.vertex_at = cutting.vertex_at,
                                         .tile_begin = cutting.tile_begin,
                                         .tile_count = cutting.tile_count,
                                         .tile = tile,
                                         .pivot = pivot,
                                         .symmetric = !directed};
    CHECK(plan_symbolic_make(grid.graph, &outline, &grid.plan) == STATUS_OK);
    free(pivot);
    free(cutting.vertex_at);
    free(cutting.tile_begin);
    free(cutting.level);
    return grid;
}

void halved_grid_finish(struct halved_grid *grid)
{
    graph_destroy(grid->graph);
    plan_destroy(grid->plan);
}
