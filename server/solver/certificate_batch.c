#include "server/solver/certificate.h"

#include "proto/check.h"

#include <stdlib.h>

/* A weight below this added to any entry that is looked at stays within an int32. */
#define WEIGHT_BELOW (1 << 29)

/* The entries of one vertex, by place of their row in the batch. */
struct lanes {
    _Alignas(64) int32_t at[CERTIFICATE_BATCH_ROWS];
};

struct certificate_batch {
    const struct graph *graph;
    const struct matrix *matrix;
    struct lanes *distance; /* vertex_count: what the matrix says */
    struct lanes *least;    /* vertex_count: what the edges say */
};

bool certificate_batch_applies(const struct graph *graph, const struct matrix *matrix)
{
    const bool integers = matrix->kind == KIND_I4 || matrix->kind == KIND_U2;
    return integers && graph->weight_type == WEIGHT_INTEGER && graph->edge_count > 0 &&
           graph->summary.min_weight > 0 && graph->summary.max_weight < WEIGHT_BELOW &&
           graph->summary.negative_loop == NO_VERTEX;
}

enum status certificate_batch_create(const struct graph *graph, const struct matrix *matrix,
                                     struct certificate_batch **ret_batch)
{
    CHECK(certificate_batch_applies(graph, matrix));
    struct certificate_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL) {
        return STATUS_NO_MEMORY;
    }
    const size_t bytes = (size_t)graph->vertex_count * sizeof(struct lanes);
    batch->graph = graph;
    batch->matrix = matrix;
    batch->distance = aligned_alloc(_Alignof(struct lanes), bytes);
    batch->least = aligned_alloc(_Alignof(struct lanes), bytes);
    if (batch->distance == NULL || batch->least == NULL) {
        certificate_batch_destroy(batch);
        return STATUS_NO_MEMORY;
    }
    *ret_batch = batch;
    return STATUS_OK;
}

void certificate_batch_destroy(struct certificate_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    free(batch->distance);
    free(batch->least);
    free(batch);
}

/* False for an entry that no distance can be. */
static bool load_row(struct certificate_batch *batch, uint32_t source, uint32_t lane)
{
    bool plausible = true;
    for (uint32_t vertex = 0; vertex < batch->graph->vertex_count; vertex++) {
        double distance = UNREACHABLE_I4;
        const bool reached = matrix_distance(batch->matrix, source, vertex, &distance);
        plausible = plausible && (!reached || (distance >= 0 && distance < UNREACHABLE_I4));
        batch->distance[vertex].at[lane] = plausible ? (int32_t)distance : UNREACHABLE_I4;
        batch->least[vertex].at[lane] = UNREACHABLE_I4;
    }
    return plausible && batch->distance[source].at[lane] == 0;
}

static inline void relax(struct lanes *restrict to, const struct lanes *restrict from,
                         int32_t weight)
{
    for (uint32_t lane = 0; lane < CERTIFICATE_BATCH_ROWS; lane++) {
        const int32_t distance = from->at[lane] + weight;
        to->at[lane] = distance < to->at[lane] ? distance : to->at[lane];
    }
}

static void relax_edges(const struct certificate_batch *batch)
{
    const struct graph *graph = batch->graph;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        const struct lanes from = batch->distance[row];
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            relax(&batch->least[graph->target[edge]], &from, graph->weight_i4[edge]);
        }
    }
}

/* The same edges, walked backwards. */
static void relax_ways_back(const struct certificate_batch *batch)
{
    const struct graph *graph = batch->graph;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        struct lanes least = batch->least[row];
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            relax(&least, &batch->distance[graph->target[edge]], graph->weight_i4[edge]);
        }
        batch->least[row] = least;
    }
}

/* Without a branch, so that all lanes are compared at once. */
static bool agrees(const struct certificate_batch *batch)
{
    int32_t differing = 0;
    for (uint32_t vertex = 0; vertex < batch->graph->vertex_count; vertex++) {
        for (uint32_t lane = 0; lane < CERTIFICATE_BATCH_ROWS; lane++) {
            differing |= batch->distance[vertex].at[lane] ^ batch->least[vertex].at[lane];
        }
    }
    return differing == 0;
}

bool certificate_batch_check(struct certificate_batch *batch, const uint32_t *sources,
                             uint32_t source_count)
{
    CHECK(source_count >= 1 && source_count <= CERTIFICATE_BATCH_ROWS);
    for (uint32_t lane = 0; lane < CERTIFICATE_BATCH_ROWS; lane++) {
        /* Lanes without a row of their own repeat the last one. */
        const uint32_t place = lane < source_count ? lane : source_count - 1;
        if (!load_row(batch, sources[place], lane)) {
            return false;
        }
    }
    relax_edges(batch);
    if (!batch->graph->directed) {
        relax_ways_back(batch);
    }
    for (uint32_t lane = 0; lane < CERTIFICATE_BATCH_ROWS; lane++) {
        const uint32_t place = lane < source_count ? lane : source_count - 1;
        batch->least[sources[place]].at[lane] = 0; /* the equation does not hold for a source */
    }
    return agrees(batch);
}
