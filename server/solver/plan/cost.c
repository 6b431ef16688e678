#include "server/solver/plan/cost.h"

#include "server/solver/plan/tile_map.h"

#include <stdlib.h>

/* Work of one round, in tile products of full depth. */
struct effort {
    double close;   /* closing the deepest pivot's tile */
    double panels;  /* updating all panels */
    double targets; /* updating all targets */
    double panel_touches;
    double target_touches;
};

static double round_up(uint32_t width, uint32_t granule)
{
    return (double)(((uint64_t)width + granule - 1) / granule * granule);
}

/* Returns the width of a tile as a fraction of the full width. */
static double edge_of(const struct plan_cost *cost, uint32_t width)
{
    return round_up(width, cost->edge_granule) / cost->tile;
}

static double depth_of(const struct plan_cost *cost, uint32_t width)
{
    return round_up(width, cost->granule) / cost->tile;
}

/* Adds the work of a pivot. left and right: the number of panels, and the sum of their widths. */
static void add_pivot(struct effort *effort, double depth, bool symmetric, double left_count,
                      double left_edge, double right_count, double right_edge)
{
    const double half = symmetric ? 0.5 : 1;
    effort->close = depth > effort->close ? depth : effort->close;
    effort->panels += half * depth * (left_edge + right_edge);
    effort->panel_touches += half * (left_count + right_count);
    effort->targets += half * depth * (left_edge * right_edge + (symmetric ? left_edge : 0));
    effort->target_touches += half * (left_count * right_count + (symmetric ? left_count : 0));
}

/* Returns the time of tiles distributed over the units, which is at least the time of one tile. */
static double share_time(const struct plan_cost *cost, double depth, double products,
                         double touches)
{
    if (touches <= 0) {
        return 0;
    }
    const double all_s = (products * cost->product_s + touches * cost->touch_s) / cost->units;
    const double one_s = depth * cost->product_s + cost->touch_s;
    return all_s > one_s ? all_s : one_s;
}

static double seconds_of(const struct plan_cost *cost, const struct effort *effort)
{
    return cost->round_s + effort->close * cost->product_s +
           share_time(cost, effort->close, effort->panels, effort->panel_touches) +
           share_time(cost, effort->close, effort->targets, effort->target_touches);
}

double plan_cost_dense(const struct plan_cost *cost, uint32_t vertex_count, bool symmetric)
{
    const double tiles = (double)(((uint64_t)vertex_count + cost->tile - 1) / cost->tile);
    if (vertex_count == 0 || cost->dense_s > 0) {
        return cost->dense_s;
    }
    const double depth = depth_of(cost, vertex_count) / tiles;
    const double others = edge_of(cost, vertex_count) - 1;
    const double edge = others > 0 ? others : 0;
    struct effort effort = {0};
    add_pivot(&effort, depth, symmetric, tiles - 1, edge, tiles - 1, edge);
    return tiles * seconds_of(cost, &effort);
}

struct trial {
    const struct plan_cost *cost;
    const struct plan_outline *outline;
    struct tile_map reached;
    struct tile_map mirrored; /* the transposed map; empty if symmetric */
    double *edge;             /* width of each tile */
    double seconds;
};

/* Sums the number and the widths of the tiles of one row, except its diagonal tile. */
static double sum_row(const struct trial *trial, const struct tile_map *map, uint32_t row,
                      double *ret_count)
{
    const uint64_t *words = tile_map_row(map, row);
    double edge = -trial->edge[row];
    double count = -1;
    for (size_t word = 0; word < map->row_words; word++) {
        count += __builtin_popcountll(words[word]);
        for (uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
            edge += trial->edge[word * TILE_MAP_WORD_BITS + (size_t)__builtin_ctzll(bits)];
        }
    }
    *ret_count = count;
    return edge;
}

/* Joins the row of a tile to every row that contains this tile, using the transposed map. */
static void join_rows(struct tile_map *map, const struct tile_map *transposed, uint32_t tile)
{
    const uint64_t *words = tile_map_row(transposed, tile);
    for (size_t word = 0; word < map->row_words; word++) {
        for (uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
            const uint32_t row =
                (uint32_t)(word * TILE_MAP_WORD_BITS) + (uint32_t)__builtin_ctzll(bits);
            if (row != tile) {
                tile_map_join_row(map, row, tile);
            }
        }
    }
}

/* Costs one round. Returns the first pivot after the round. */
static uint32_t try_round(struct trial *trial, uint32_t first)
{
    const struct plan_outline *outline = trial->outline;
    const struct tile_map *transposed = outline->symmetric ? &trial->reached : &trial->mirrored;
    struct effort effort = {0};
    uint32_t next = first;
    bool independent = true;
    do {
        const uint32_t tile = outline->pivot[next];
        const uint32_t width = outline->tile_begin[tile + 1] - outline->tile_begin[tile];
        double left_count = 0;
        double right_count = 0;
        const double left_edge = sum_row(trial, transposed, tile, &left_count);
        const double right_edge = sum_row(trial, &trial->reached, tile, &right_count);
        add_pivot(&effort, depth_of(trial->cost, width), outline->symmetric, left_count, left_edge,
                  right_count, right_edge);
        next++;
        for (uint32_t index = first; next < outline->tile_count && index < next; index++) {
            const uint32_t one = outline->pivot[index];
            const uint32_t other = outline->pivot[next];
            independent = independent && !tile_map_has(&trial->reached, other, one) &&
                          !tile_map_has(&trial->reached, one, other);
        }
    } while (next < outline->tile_count && independent);
    for (uint32_t index = first; index < next; index++) {
        join_rows(&trial->reached, transposed, outline->pivot[index]);
        if (!outline->symmetric) {
            join_rows(&trial->mirrored, &trial->reached, outline->pivot[index]);
        }
    }
    trial->seconds += seconds_of(trial->cost, &effort);
    return next;
}

static enum status begin_trial(struct trial *trial, const struct graph *graph,
                               const uint32_t *tile_of)
{
    const struct plan_outline *outline = trial->outline;
    enum status status = tile_map_init(&trial->reached, outline->tile_count);
    if (status == STATUS_OK && !outline->symmetric) {
        status = tile_map_init(&trial->mirrored, outline->tile_count);
    }
    trial->edge = calloc((size_t)outline->tile_count + TILE_MAP_WORD_BITS, sizeof(*trial->edge));
    if (status != STATUS_OK || trial->edge == NULL) {
        return STATUS_NO_MEMORY;
    }
    tile_map_add_edges(&trial->reached, graph, tile_of);
    for (uint32_t tile = 0; tile < outline->tile_count; tile++) {
        tile_map_add(&trial->reached, tile, tile);
        trial->edge[tile] =
            edge_of(trial->cost, outline->tile_begin[tile + 1] - outline->tile_begin[tile]);
    }
    for (uint32_t i = 0; i < outline->tile_count && !outline->symmetric; i++) {
        for (uint32_t j = 0; j < outline->tile_count; j++) {
            if (tile_map_has(&trial->reached, i, j)) {
                tile_map_add(&trial->mirrored, j, i);
            }
        }
    }
    return STATUS_OK;
}

enum status plan_cost_outline(const struct plan_cost *cost, const struct graph *graph,
                              const struct plan_outline *outline, const uint32_t *tile_of,
                              double limit_s, double *ret_seconds)
{
    struct trial trial = {.cost = cost, .outline = outline};
    const enum status status = begin_trial(&trial, graph, tile_of);
    for (uint32_t next = 0; status == STATUS_OK && next < outline->tile_count;) {
        next = trial.seconds > limit_s ? outline->tile_count : try_round(&trial, next);
    }
    tile_map_finish(&trial.reached);
    tile_map_finish(&trial.mirrored);
    free(trial.edge);
    if (status == STATUS_OK) {
        *ret_seconds = trial.seconds;
    }
    return status;
}
