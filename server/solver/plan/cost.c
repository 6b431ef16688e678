#include "server/solver/plan/cost.h"

/* Work of one round, in tile products of full depth. */
struct effort {
    double close;   /* closing the tile of the widest pivot */
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

/* Adds the work of a pivot. left_count and right_count: numbers of panels; left_edge and
 * right_edge: the sums of their widths. */
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

static double sum_edges(const struct plan_cost *cost, const struct plan *plan,
                        const uint32_t *tiles, uint32_t count)
{
    double edge = 0;
    for (uint32_t index = 0; index < count; index++) {
        const uint32_t tile = tiles[index];
        edge += edge_of(cost, plan->tile_begin[tile + 1] - plan->tile_begin[tile]);
    }
    return edge;
}

double plan_cost_round(const struct plan_cost *cost, const struct plan *plan,
                       const struct plan_round *round)
{
    struct effort effort = {0};
    for (uint32_t index = 0; index < round->pivot_count; index++) {
        const struct plan_pivot *pivot = &round->pivots[index];
        const uint32_t width = plan->tile_begin[pivot->tile + 1] - plan->tile_begin[pivot->tile];
        add_pivot(
            &effort, depth_of(cost, width), plan->symmetric, pivot->left_count,
            sum_edges(cost, plan, round->left_tiles + pivot->left_begin, pivot->left_count),
            pivot->right_count,
            sum_edges(cost, plan, round->right_tiles + pivot->right_begin, pivot->right_count));
    }
    return seconds_of(cost, &effort);
}
