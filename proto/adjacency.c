#include "proto/adjacency.h"

#include <stdlib.h>

enum status adjacency_size(uint32_t vertex_count, uint64_t edge_count, bool directed,
                           enum weight_type type, size_t *ret_bytes)
{
    const size_t edge_size =
        sizeof(uint32_t) + (type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double));
    const size_t offsets_size = ((size_t)vertex_count + 1) * sizeof(uint64_t);
    size_t bytes;

    if (__builtin_mul_overflow(edge_count, (directed ? 1 : 2) * edge_size, &bytes) ||
        __builtin_add_overflow(bytes, offsets_size, &bytes)) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}

static enum status allocate_arrays(const struct graph *graph, struct adjacency *adjacency)
{
    const size_t count = (size_t)graph->edge_count * (graph->directed ? 1 : 2);

    /* calloc checks for overflow. No array has size 0, because calloc(0) may return NULL. */
    adjacency->offset = calloc((size_t)graph->vertex_count + 2, sizeof(*adjacency->offset));
    adjacency->source = calloc(count + 1, sizeof(*adjacency->source));
    if (graph->weight_type == WEIGHT_INTEGER) {
        adjacency->weight_i4 = calloc(count + 1, sizeof(*adjacency->weight_i4));
    } else {
        adjacency->weight_f8 = calloc(count + 1, sizeof(*adjacency->weight_f8));
    }
    if (adjacency->offset == NULL || adjacency->source == NULL ||
        (adjacency->weight_i4 == NULL && adjacency->weight_f8 == NULL)) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static void place_edge(const struct graph *graph, uint64_t edge, uint32_t source, uint32_t target,
                       struct adjacency *adjacency)
{
    const uint64_t at = adjacency->offset[(size_t)target + 1]++;

    adjacency->source[at] = source;
    if (adjacency->weight_i4 != NULL) {
        adjacency->weight_i4[at] = graph->weight_i4[edge];
    } else {
        adjacency->weight_f8[at] = graph->weight_f8[edge];
    }
}

enum status adjacency_create(const struct graph *graph, struct adjacency **ret_adjacency)
{
    struct adjacency *adjacency = calloc(1, sizeof(*adjacency));

    if (adjacency == NULL) {
        return STATUS_NO_MEMORY;
    }
    adjacency->vertex_count = graph->vertex_count;
    if (allocate_arrays(graph, adjacency) != STATUS_OK) {
        adjacency_destroy(adjacency);
        return STATUS_NO_MEMORY;
    }
    /* Counting sort with one array. The first loop counts the edges into v in offset[v + 2]. The
     * sums set offset[v + 1] to the start of these edges; the last loop moves it to their end. */
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            adjacency->offset[(size_t)graph->target[edge] + 2]++;
            adjacency->offset[(size_t)row + 2] += !graph->directed;
        }
    }
    for (size_t row = 2; row <= (size_t)graph->vertex_count + 1; row++) {
        adjacency->offset[row] += adjacency->offset[row - 1];
    }
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            place_edge(graph, edge, row, graph->target[edge], adjacency);
            if (!graph->directed) {
                place_edge(graph, edge, graph->target[edge], row, adjacency);
            }
        }
    }
    *ret_adjacency = adjacency;
    return STATUS_OK;
}

void adjacency_destroy(struct adjacency *adjacency)
{
    if (adjacency == NULL) {
        return;
    }
    free(adjacency->offset);
    free(adjacency->source);
    free(adjacency->weight_i4);
    free(adjacency->weight_f8);
    free(adjacency);
}

double adjacency_weight(const struct adjacency *adjacency, uint64_t edge)
{
    return adjacency->weight_i4 != NULL ? (double)adjacency->weight_i4[edge]
                                        : adjacency->weight_f8[edge];
}
