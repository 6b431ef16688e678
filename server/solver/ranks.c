#include "server/solver/ranks.h"

#include "server/solver/plan/layout.h"
#include "server/solver/plan/planner.h"

#include <stdlib.h>

static void share_data(const struct ranks *ranks, void *data, size_t size)
{
    ranks_broadcast(ranks, data, size, 0);
}

static struct graph *create_graph(const struct graph *like)
{
    struct graph *graph = graph_create_like(like, like->weight_type, like->edge_count);
    if (graph != NULL &&
        vertex_names_create_range(like->vertex_count, 0, &graph->names) != STATUS_OK) {
        graph_destroy_copy(graph);
        return NULL;
    }
    return graph;
}

enum status ranks_share_graph(const struct ranks *ranks, enum status status, struct graph **graph)
{
    struct graph head = {0};
    STATUS_TRY(ranks_agree(ranks, status));
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

static enum status share_order(const struct ranks *ranks, const struct graph *graph, uint32_t tile,
                               uint32_t tile_count, struct plan **plan)
{
    const struct plan *first = *plan;
    struct plan_outline outline = {.tile_count = tile_count,
                                   .tile = tile,
                                   .pivot = malloc((tile_count + 1) * sizeof(uint32_t)),
                                   .symmetric = !graph->directed};
    if (ranks->rank == 0) {
        outline.vertex_at = first->vertex_at;
        outline.tile_begin = first->tile_begin;
        for (uint32_t i = 0; outline.pivot != NULL && i < tile_count; i++) {
            outline.pivot[i] = first->pivots[i].tile;
        }
    } else {
        outline.vertex_at = malloc(((size_t)graph->vertex_count + 1) * sizeof(uint32_t));
        outline.tile_begin = malloc(((size_t)tile_count + 1) * sizeof(uint32_t));
    }
    const bool enough =
        outline.vertex_at != NULL && outline.tile_begin != NULL && outline.pivot != NULL;
    enum status status = ranks_agree(ranks, enough ? STATUS_OK : STATUS_NO_MEMORY);
    if (status == STATUS_OK) {
        share_data(ranks, outline.vertex_at, graph->vertex_count * sizeof(uint32_t));
        share_data(ranks, outline.tile_begin, ((size_t)tile_count + 1) * sizeof(uint32_t));
        share_data(ranks, outline.pivot, tile_count * sizeof(uint32_t));
        status = ranks->rank == 0 ? STATUS_OK : plan_symbolic_make(graph, &outline, plan);
    }
    if (ranks->rank != 0) {
        free(outline.vertex_at);
        free(outline.tile_begin);
    }
    free(outline.pivot);
    return status;
}

enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph, uint32_t tile,
                             enum status status, struct plan **plan)
{
    struct plan_summary summary = {0};
    uint32_t tile_count = 0;
    STATUS_TRY(ranks_agree(ranks, status));
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
