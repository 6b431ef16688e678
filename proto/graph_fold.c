#include "proto/graph_fold.h"

#include <stdlib.h>
#include <string.h>

static bool may_fold(const struct graph *graph)
{
    return graph->directed && graph->edge_count > 0 && graph->edge_count % 2 == 0 &&
           !graph->summary.negative && graph->summary.negative_loop == NO_VERTEX;
}

/* Rows come in order and so do the targets within each: the reverses of the edges that lead to
 * larger vertices are met in the order in which they are stored. next: of each row, the first edge
 * that is no such reverse yet; when its row comes, its first edge to a larger vertex. */
static bool is_symmetric(const struct graph *graph, uint64_t *next)
{
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        const uint64_t end = graph->row_offset[vertex + 1];
        for (uint64_t edge = next[vertex]; edge < end; edge++) {
            const uint32_t target = graph->target[edge];
            if (target < vertex || next[target] == graph->row_offset[target + 1]) {
                return false;
            }
            const uint64_t reverse = next[target]++;
            if (graph->target[reverse] != vertex ||
                graph_weight(graph, reverse) != graph_weight(graph, edge)) {
                return false;
            }
        }
    }
    return true;
}

static bool allocate(struct graph *folded)
{
    const size_t edges = (size_t)folded->edge_count;
    folded->row_offset = malloc(((size_t)folded->vertex_count + 1) * sizeof(*folded->row_offset));
    folded->target = malloc(edges * sizeof(*folded->target));
    if (folded->weight_type == WEIGHT_INTEGER) {
        folded->weight_i4 = malloc(edges * sizeof(*folded->weight_i4));
    } else {
        folded->weight_f8 = malloc(edges * sizeof(*folded->weight_f8));
    }
    return folded->row_offset != NULL && folded->target != NULL &&
           (folded->weight_i4 != NULL || folded->weight_f8 != NULL);
}

/* first: of each row, its first edge to a larger vertex. */
static void copy_larger(const struct graph *graph, const uint64_t *first, struct graph *folded)
{
    uint64_t kept = 0;
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        const size_t count = (size_t)(graph->row_offset[vertex + 1] - first[vertex]);
        folded->row_offset[vertex] = kept;
        memcpy(folded->target + kept, graph->target + first[vertex], count * sizeof(uint32_t));
        if (graph->weight_type == WEIGHT_INTEGER) {
            memcpy(folded->weight_i4 + kept, graph->weight_i4 + first[vertex],
                   count * sizeof(int32_t));
        } else {
            memcpy(folded->weight_f8 + kept, graph->weight_f8 + first[vertex],
                   count * sizeof(double));
        }
        kept += count;
    }
    folded->row_offset[graph->vertex_count] = kept;
}

static enum status fold(const struct graph *graph, const uint64_t *first, struct graph **ret_folded)
{
    struct graph *folded = malloc(sizeof(*folded));
    if (folded == NULL) {
        return STATUS_NO_MEMORY;
    }
    *folded = *graph;
    folded->directed = false;
    folded->edge_count = graph->edge_count / 2;
    folded->row_offset = NULL;
    folded->target = NULL;
    folded->weight_i4 = NULL;
    folded->weight_f8 = NULL;
    if (!allocate(folded)) {
        graph_fold_destroy(folded);
        return STATUS_NO_MEMORY;
    }
    copy_larger(graph, first, folded);
    *ret_folded = folded;
    return STATUS_OK;
}

enum status graph_fold(const struct graph *graph, struct graph **ret_folded)
{
    *ret_folded = NULL;
    if (!may_fold(graph)) {
        return STATUS_OK;
    }
    const size_t size = (size_t)graph->vertex_count * sizeof(uint64_t);
    uint64_t *next = malloc(size);
    if (next == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(next, graph->row_offset, size);
    const enum status status =
        is_symmetric(graph, next) ? fold(graph, next, ret_folded) : STATUS_OK;
    free(next);
    return status;
}

void graph_fold_destroy(struct graph *folded)
{
    if (folded != NULL) {
        folded->names = NULL;
        graph_destroy(folded);
    }
}
