/* The way in: the graph becomes the matrix of the first round. Edges travel in chunks through the
 * two staging buffers, one being filled by the host while the other is on the bus. */
#pragma once

#include "gpu/kernel_fill.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

template <typename weight> struct upload {
    struct gpu *gpu;
    const struct graph *graph;
    const struct workspace *workspace;
    const struct observer *observer; /* asked between chunks; may be NULL */
    const weight *weights;
    struct tile_order order;
    uint64_t chunk_edges; /* edges of a full chunk */
};

/* Edges [first, first + count) into a staging buffer and on to the device: weights, then targets,
 * so that doubles stay aligned. */
template <typename weight>
MUST_CHECK static enum status upload_chunk(const struct upload<weight> *upload, uint32_t slot,
                                           uint64_t first, uint64_t count,
                                           struct fill_edges<weight> *edges)
{
    struct gpu *gpu = upload->gpu;
    const size_t weight_bytes = count * sizeof(weight);
    const size_t bytes = weight_bytes + count * sizeof(uint32_t);
    char *const host = (char *)gpu->staging[slot];
    char *const device = (char *)upload->workspace->chunk[slot];
    GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
    staging_copy(gpu->copier, host, upload->weights + first, weight_bytes);
    staging_copy(gpu->copier, host + weight_bytes, upload->graph->target + first,
                 bytes - weight_bytes);
    GPU_TRY(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, gpu->stream));
    edges->weights = (const weight *)device;
    edges->target = (const uint32_t *)(device + weight_bytes);
    edges->first_edge = first;
    edges->last_edge = first + count;
    return STATUS_OK;
}

/* The rows that hold the edges of the chunk; they only go forward from one chunk to the next. */
template <typename weight>
static void upload_find_rows(const struct graph *graph, struct fill_edges<weight> *edges)
{
    uint32_t row = edges->first_row;
    while (graph->row_offset[row + 1] <= edges->first_edge) {
        ++row;
    }
    edges->first_row = row;
    while (graph->row_offset[row] < edges->last_edge) {
        ++row;
    }
    edges->last_row = row;
}

template <typename semiring, typename weight>
MUST_CHECK static enum status upload_edges(const struct upload<weight> *upload,
                                           struct tile_matrix<typename semiring::element> matrix)
{
    const struct graph *graph = upload->graph;
    struct gpu *gpu = upload->gpu;
    struct fill_edges<weight> edges = {
    };
    edges.row_offset = upload->workspace->row_offset;
    edges.directed = graph->directed;
    edges.order = upload->order;
    uint32_t slot = 0;
    for (uint64_t first = 0; first < graph->edge_count; first += upload->chunk_edges) {
        const uint64_t left = graph->edge_count - first;
        const uint64_t count = left < upload->chunk_edges ? left : upload->chunk_edges;
        STATUS_TRY(upload_chunk(upload, slot, first, count, &edges));
        upload_find_rows(graph, &edges);
        STATUS_TRY((scatter_launch<semiring, weight>(matrix, edges, gpu->stream)));
        GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
        if (device_cancelled(upload->observer)) {
            return STATUS_CANCELLED;
        }
        slot = (slot + 1) % DEVICE_CHUNKS;
    }
    return STATUS_OK;
}

template <typename semiring, typename weight>
MUST_CHECK static enum status
upload_weighted(struct gpu *gpu, const struct graph *graph, const struct workspace *workspace,
                const struct observer *observer, const weight *weights,
                struct tile_matrix<typename semiring::element> matrix,
                const struct tile_order &order)
{
    struct upload<weight> upload;
    upload.gpu = gpu;
    upload.graph = graph;
    upload.workspace = workspace;
    upload.observer = observer;
    upload.weights = weights;
    upload.order = order;
    upload.chunk_edges = workspace->layout.chunk_bytes / (sizeof(weight) + sizeof(uint32_t));
    return upload_edges<semiring>(&upload, matrix);
}

/* After the fill, in stream order. Returns when the graph's arrays are no longer read, the device
 * maybe still at work. */
template <typename semiring>
MUST_CHECK static enum status
upload_graph(struct gpu *gpu, const struct graph *graph, const struct workspace *workspace,
             const struct observer *observer, struct tile_matrix<typename semiring::element> matrix,
             const struct tile_order &order)
{
    if (graph->edge_count == 0) {
        return STATUS_OK;
    }
    GPU_TRY(cudaMemcpyAsync(workspace->row_offset, graph->row_offset,
                            ((size_t)graph->vertex_count + 1) * sizeof(uint64_t),
                            cudaMemcpyHostToDevice, gpu->stream));
    return graph->weight_type == WEIGHT_INTEGER
               ? upload_weighted<semiring>(gpu, graph, workspace, observer, graph->weight_i4,
                                           matrix, order)
               : upload_weighted<semiring>(gpu, graph, workspace, observer, graph->weight_f8,
                                           matrix, order);
}
