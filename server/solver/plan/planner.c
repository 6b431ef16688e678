#include "server/solver/plan/planner.h"

#include "server/solver/order/strong_components.h"
#include "server/solver/plan/layout.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdlib.h>

/* A graph with fewer tiles always gets the dense plan. */
#define TILES_MIN 5

/* A plan must cost less than this fraction of the dense plan, because the model is inexact. */
#define GAIN_FRACTION 0.9

/* An order is searched for only if all its separators are predicted to take less than this fraction
 * of the dense solve, because the client waits for both. The prediction is for one thread; 16
 * threads take 0.6 to 0.9 of that time. */
#define LOOK_FRACTION 0.5

/* If computing a bad first separator would lose more than this fraction of the dense solve, it is
 * computed only if a breadth-first search finds a thin level. */
#define LOSS_FRACTION 0.03

/* Graphs with many neighbours per vertex have bad separators. METIS takes longer for such a graph
 * if it exceeds the caches: 1.5 times as long for 50,000 vertices and entries, 3 times from 200,000
 * on. */
#define BAD_DEGREE 6
#define BAD_SIZE 1e5
#define BAD_FACTOR_MAX 3

/* The second way to divide a directed graph is assumed to save this fraction of the first plan's
 * cost. That way is tried if its search costs less than the saving. */
#define LIKELY_GAIN 0.9

/* Layouts are tried with leaves of one to LEAF_TILES_MAX tiles, in powers of two. Clumps always
 * have CLUMP_LEAVES leaves: the best combination of both would be only a few percent better. */
#define LEAF_TILES_MAX 8
#define CLUMP_LEAVES 8

enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan)
{
    CHECK(tile > 0);
    const double begin_s = stopwatch_now_s();
    struct plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return STATUS_NO_MEMORY;
    }
    plan->summary.kind = PLAN_DENSE;
    plan->vertex_count = vertex_count;
    plan->tile = tile;
    plan->tile_count = (uint32_t)(((uint64_t)vertex_count + tile - 1) / tile);
    plan->summary.parts = vertex_count > 0 ? 1 : 0;
    plan->summary.work_fraction = 1;
    plan->round_count = plan->tile_count;
    plan->summary.planning_s = stopwatch_now_s() - begin_s;
    *ret_plan = plan;
    return STATUS_OK;
}

struct planning {
    const struct graph *graph;
    const struct plan_cost *cost;
    const struct observer *observer;
    double dense_s;
    bool is_worth;           /* whether an order should be searched for */
    double look_s;           /* predicted time of all separators, from n and m */
    bool thin_only;          /* order_options.thin_only of the search */
    struct order *order;     /* owned: the order of the best layout, or else the last order */
    struct plan_layout best; /* owned; empty until a layout is better than the dense plan */
    double seconds;          /* predicted time of the solve */
};

static enum status try_layout(struct planning *planning, const struct order *order, uint32_t leaf)
{
    const struct plan_cost *cost = planning->cost;
    const struct plan_layout_options options = {.tile = cost->tile,
                                                .granule = cost->granule,
                                                .leaf = leaf,
                                                .clump = leaf * CLUMP_LEAVES,
                                                .symmetric = !planning->graph->directed};
    struct plan_layout layout = {0};
    double seconds = INFINITY;
    if (observer_is_cancelled(planning->observer)) {
        return STATUS_CANCELLED;
    }
    enum status status = plan_layout_make(order, &options, &layout);
    if (status == STATUS_OK && layout.outline.tile_count <= PLAN_TILES_MAX) {
        status =
            plan_symbolic_cost(planning->graph, &layout.outline, cost, planning->seconds, &seconds);
    }
    if (status == STATUS_OK && seconds < planning->seconds) {
        const struct plan_layout former = planning->best;
        planning->best = layout;
        layout = former;
        planning->seconds = seconds;
    }
    plan_layout_finish(&layout);
    return status;
}

/* Stores the order if one of its layouts is the best so far, or if there is no other order. */
static enum status try_order(struct planning *planning, struct order **take_order)
{
    struct order *order = *take_order;
    const uint32_t tile = planning->cost->tile;
    /* An undivided graph has only one layout. */
    const bool is_whole = order->node_count == order->root_count;
    bool keeps = planning->order == NULL;
    for (uint32_t tiles = 1; tiles <= (is_whole ? 1 : LEAF_TILES_MAX); tiles *= 2) {
        const double best_s = planning->seconds;
        STATUS_TRY(try_layout(planning, order, tiles * tile));
        keeps |= planning->seconds < best_s;
    }
    if (keeps) {
        order_destroy(planning->order);
        planning->order = order;
        *take_order = NULL;
    }
    return STATUS_OK;
}

/* Makes an order. *ret_whole: whether one component has at least half of the graph's vertices. */
static enum status make_order(struct planning *planning, bool strong, bool *ret_whole)
{
    const struct order_options options = {.threads = planning->cost->threads,
                                          .strong = strong,
                                          .thin_only = planning->thin_only,
                                          .observer = planning->observer};
    struct order *order = NULL;
    STATUS_TRY(order_make(planning->graph, &options, &order));
    *ret_whole = false;
    for (uint32_t root = 0; root < order->root_count; root++) {
        const struct order_node *node = &order->nodes[order->roots[root].node];
        *ret_whole |= node->end - node->begin >= order->vertex_count / 2;
    }
    const enum status status = try_order(planning, &order);
    order_destroy(order);
    return status;
}

/* Searches for orders. Small strong components leave pivots without targets, but lose the locality
 * that connected components preserve. So for a directed graph both ways are tried if the second may
 * be worthwhile. */
static enum status look_for_order(struct planning *planning)
{
    const bool directed = planning->graph->directed;
    bool whole = false;
    STATUS_TRY(make_order(planning, directed, &whole));
    if (directed && !whole && planning->look_s < LIKELY_GAIN * planning->seconds) {
        STATUS_TRY(make_order(planning, false, &whole));
    }
    return STATUS_OK;
}

/* Finds out whether the planner would make an order of the same type now. */
static enum status fits_graph(const struct planning *planning, const struct order *order,
                              bool *ret_fits)
{
    const struct graph *graph = planning->graph;
    *ret_fits = !order->partial || planning->thin_only;
    if (*ret_fits && graph->directed && !order->strong) {
        struct strong_components components;
        STATUS_TRY(strong_components_find(graph, &components));
        *ret_fits = components.count == order->root_count;
        strong_components_finish(&components);
    }
    return STATUS_OK;
}

/* Uses the cached order. *ret_found: whether it was found and fits, so that no search is needed. */
static enum status recall_order(struct planning *planning, const struct order_record *record,
                                bool *ret_found)
{
    struct order *order = NULL;
    enum status status = order_record_get(record, planning->graph->vertex_count, &order);
    *ret_found = false;
    if (status == STATUS_OK && order != NULL) {
        status = fits_graph(planning, order, ret_found);
    }
    if (status == STATUS_OK && *ret_found) {
        status = try_order(planning, &order);
    }
    order_destroy(order);
    return status;
}

static enum status make_chosen(struct planning *planning, struct plan **ret_plan)
{
    const struct plan_layout *layout = &planning->best;
    STATUS_TRY(plan_symbolic_make(planning->graph, &layout->outline, ret_plan));
    (*ret_plan)->summary.parts = layout->part_count;
    (*ret_plan)->summary.largest_separator = planning->order->largest_separator;
    (*ret_plan)->expected_s = planning->seconds;
    return STATUS_OK;
}

/* Decides whether an order should be searched for, and how. */
static void judge_look(struct planning *planning)
{
    const struct graph *graph = planning->graph;
    const struct plan_cost *cost = planning->cost;
    const double size = (double)graph->vertex_count + 2 * (double)graph->edge_count;
    const double level_s = cost->separator_s * size;
    const bool is_bad = 2 * graph->edge_count >= BAD_DEGREE * (uint64_t)graph->vertex_count;
    const double loss_s = level_s * (is_bad ? fmin(1 + size / BAD_SIZE, BAD_FACTOR_MAX) : 1);
    planning->look_s = level_s * fmax(1, log2((double)graph->vertex_count / cost->tile));
    planning->thin_only = loss_s > LOSS_FRACTION * planning->dense_s;
    planning->is_worth = graph->vertex_count > (uint64_t)cost->tile * (TILES_MIN - 1) &&
                         graph->vertex_count <= INT32_MAX && graph->edge_count <= INT32_MAX / 2 &&
                         planning->look_s < LOOK_FRACTION * planning->dense_s;
}

static enum status find_plan(struct planning *planning, struct order_record *record,
                             bool *ret_recalled, struct plan **ret_plan)
{
    *ret_recalled = false;
    judge_look(planning);
    if (record != NULL) {
        STATUS_TRY(recall_order(planning, record, ret_recalled));
    }
    if (!*ret_recalled && planning->is_worth) {
        STATUS_TRY(look_for_order(planning));
        if (record != NULL) {
            order_record_put(record, planning->order);
        }
    }
    return planning->best.outline.vertex_at != NULL
               ? make_chosen(planning, ret_plan)
               : planner_dense(planning->graph->vertex_count, planning->cost->tile, ret_plan);
}

enum status planner_make(const struct graph *graph, const struct plan_cost *cost,
                         struct order_record *record, struct plan **ret_plan)
{
    const double begin_s = stopwatch_now_s();
    const double dense_s = plan_cost_dense(cost, graph->vertex_count, !graph->directed);
    struct planning planning = {.graph = graph,
                                .cost = cost,
                                .observer = record != NULL ? record->observer : NULL,
                                .dense_s = dense_s,
                                .seconds = GAIN_FRACTION * dense_s};
    bool recalled = false;
    const enum status status = find_plan(&planning, record, &recalled, ret_plan);
    plan_layout_finish(&planning.best);
    order_destroy(planning.order);
    if (status == STATUS_OK) {
        (*ret_plan)->summary.planning_s = stopwatch_now_s() - begin_s;
        (*ret_plan)->summary.cached = recalled;
    }
    return status;
}
