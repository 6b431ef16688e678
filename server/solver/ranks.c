#include "server/solver/ranks.h"

#include "server/solver/plan/layout.h"
#include "server/solver/plan/planner.h"

#include <stdlib.h>

static void share_data(const struct ranks *ranks, void *data, size_t size)
{
    ranks_broadcast(ranks, data, size, 0);
}

/* ---- The graph ---- */

static struct graph *create_graph(const struct graph *like)
{
    struct graph *graph = malloc(sizeof(*graph));
    if (graph == NULL) {
        return NULL;
    }
    const size_t edges = like->edge_count + 1;
    *graph = *like;
    graph->row_offset = calloc((size_t)like->vertex_count + 1, sizeof(*graph->row_offset));
    graph->target = malloc(edges * sizeof(*graph->target));
    graph->weight_i4 = NULL;
    graph->weight_f8 = NULL;
    graph->names = NULL;
    if (like->weight_type == WEIGHT_INTEGER) {
        graph->weight_i4 = malloc(edges * sizeof(*graph->weight_i4));
    } else {
        graph->weight_f8 = malloc(edges * sizeof(*graph->weight_f8));
    }
    if (graph->row_offset == NULL || graph->target == NULL ||
        (graph->weight_i4 == NULL && graph->weight_f8 == NULL) ||
        vertex_names_create_range(like->vertex_count, 0, &graph->names) != STATUS_OK) {
        graph_destroy(graph);
        return NULL;
    }
    return graph;
}

enum status ranks_share_graph(const struct ranks *ranks, enum status status, struct graph **graph)
{
    struct graph head = {0};
    status = ranks_agree(ranks, status);
    if (status != STATUS_OK) {
        return status;
    }
    if (ranks->rank == 0) {
        head = **graph;
    }
    share_data(ranks, &head, sizeof(head));
    struct graph *shared = ranks->rank == 0 ? *graph : create_graph(&head);
    status = ranks_agree(ranks, shared != NULL ? STATUS_OK : STATUS_NO_MEMORY);
    if (status != STATUS_OK) {
        if (ranks->rank != 0) {
            graph_destroy(shared);
        }
        return status;
    }
    share_data(ranks, shared->row_offset,
               ((size_t)head.vertex_count + 1) * sizeof(*shared->row_offset));
    share_data(ranks, shared->target, head.edge_count * sizeof(*shared->target));
    if (head.weight_type == WEIGHT_INTEGER) {
        share_data(ranks, shared->weight_i4, head.edge_count * sizeof(*shared->weight_i4));
    } else {
        share_data(ranks, shared->weight_f8, head.edge_count * sizeof(*shared->weight_f8));
    }
    *graph = shared;
    return STATUS_OK;
}

/* ---- The plan ---- */

/* The parts of a plan from which another rank rebuilds it. */
struct plan_parts {
    uint32_t *vertex_at;
    uint32_t *tile_begin;
    uint32_t *pivot;
};

static enum status make_from_parts(const struct ranks *ranks, const struct graph *graph,
                                   const struct plan_outline *outline,
                                   const struct plan_parts *parts, struct plan **plan)
{
    share_data(ranks, parts->vertex_at, graph->vertex_count * sizeof(uint32_t));
    share_data(ranks, parts->tile_begin, ((size_t)outline->tile_count + 1) * sizeof(uint32_t));
    share_data(ranks, parts->pivot, outline->tile_count * sizeof(uint32_t));
    return ranks->rank == 0 ? STATUS_OK : plan_symbolic_make(graph, outline, plan);
}

static enum status share_order(const struct ranks *ranks, const struct graph *graph, uint32_t tile,
                               uint32_t tile_count, struct plan **plan)
{
    const struct plan *first = *plan;
    struct plan_parts parts = {.pivot = malloc((tile_count + 1) * sizeof(uint32_t))};
    if (ranks->rank == 0) {
        parts.vertex_at = first->vertex_at;
        parts.tile_begin = first->tile_begin;
        for (uint32_t i = 0; parts.pivot != NULL && i < tile_count; i++) {
            parts.pivot[i] = first->pivots[i].tile;
        }
    } else {
        parts.vertex_at = malloc(((size_t)graph->vertex_count + 1) * sizeof(uint32_t));
        parts.tile_begin = malloc(((size_t)tile_count + 1) * sizeof(uint32_t));
    }
    const bool enough = parts.vertex_at != NULL && parts.tile_begin != NULL && parts.pivot != NULL;
    const struct plan_outline outline = {.vertex_at = parts.vertex_at,
                                         .tile_begin = parts.tile_begin,
                                         .tile_count = tile_count,
                                         .tile = tile,
                                         .pivot = parts.pivot,
                                         .symmetric = !graph->directed};
    enum status status = ranks_agree(ranks, enough ? STATUS_OK : STATUS_NO_MEMORY);
    if (status == STATUS_OK) {
        status = make_from_parts(ranks, graph, &outline, &parts, plan);
    }
    if (ranks->rank != 0) {
        free(parts.vertex_at);
        free(parts.tile_begin);
    }
    free(parts.pivot);
    return status;
}

enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph, uint32_t tile,
                             enum status status, struct plan **plan)
{
    struct plan_summary summary = {0};
    uint32_t tile_count = 0;
    status = ranks_agree(ranks, status);
    if (status != STATUS_OK) {
        return status;
    }
    if (ranks->rank == 0) {
        summary = (*plan)->summary;
        tile_count = (*plan)->tile_count;
    }
    share_data(ranks, &summary, sizeof(summary));
    share_data(ranks, &tile_count, sizeof(tile_count));
    if (summary.kind != PLAN_DENSE) {
        status = share_order(ranks, graph, tile, tile_count, plan);
    } else if (ranks->rank != 0) {
        status = planner_dense(graph->vertex_count, tile, plan);
    }
    if (status == STATUS_OK) {
        (*plan)->summary = summary;
    }
    return ranks_agree(ranks, status);
}
