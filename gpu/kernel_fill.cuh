/* The matrix before the first round: unreachable everywhere, 0 on the diagonal, then the edges.
 *
 * fill: one block of 256 threads per row of the padded matrix, or per tile of a list, 16-byte
 * stores. Padded vertices get their 0 on the diagonal too.
 * scatter: one warp per row of the graph that has edges in the chunk, lanes along the edges. No two
 * edges write the same element: the graph has no parallel edges, and an undirected edge is stored
 * once, in the row of its smaller end. */
#pragma once

#include "gpu/schedule.h"
#include "gpu/semiring.cuh"
#include "gpu/staging.h"
#include "gpu/try.cuh"
#include "gpu/workspace.cuh"

#define FILL_THREADS 256

template <typename semiring>
__global__ void __launch_bounds__(FILL_THREADS)
    fill_kernel(struct tile_matrix<typename semiring::element> matrix)
{
    typedef typename semiring::element element;
    constexpr uint32_t across = 16 / sizeof(element);
    const uint64_t row = blockIdx.x;
    element *const line = matrix.elements + row * matrix.stride;
    const element far = semiring::unreachable();
    for (uint64_t column = threadIdx.x * across; column < matrix.stride;
         column += FILL_THREADS * across) {
        __align__(16) element piece[across];
#pragma unroll
        for (uint32_t i = 0; i < across; i++) {
            piece[i] = column + i == row ? (element)0 : far;
        }
        *reinterpret_cast<int4 *>(line + column) = *reinterpret_cast<const int4 *>(piece);
    }
}

template <typename semiring>
MUST_CHECK static enum status fill_launch(struct tile_matrix<typename semiring::element> matrix,
                                          cudaStream_t stream)
{
    fill_kernel<semiring><<<(uint32_t)matrix.stride, FILL_THREADS, 0, stream>>>(matrix);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename semiring>
__global__ void __launch_bounds__(FILL_THREADS)
    fill_tiles_kernel(struct tile_matrix<typename semiring::element> matrix,
                      const struct schedule_tile *tiles)
{
    typedef typename semiring::element element;
    constexpr uint32_t across = 16 / sizeof(element);
    const struct schedule_tile tile = tiles[blockIdx.x];
    element *const home = tile_at(matrix, tile.row, tile.column);
    const element far = semiring::unreachable();
    for (uint32_t at = threadIdx.x * across; at < GPU_TILE * GPU_TILE;
         at += FILL_THREADS * across) {
        const uint32_t row = at / GPU_TILE;
        const uint32_t column = at % GPU_TILE;
        __align__(16) element piece[across];
#pragma unroll
        for (uint32_t i = 0; i < across; i++) {
            piece[i] = tile.row == tile.column && column + i == row ? (element)0 : far;
        }
        *reinterpret_cast<int4 *>(home + row * matrix.stride + column) =
            *reinterpret_cast<const int4 *>(piece);
    }
}

/* tiles: on the device. */
template <typename semiring>
MUST_CHECK static enum status
fill_tiles_launch(struct tile_matrix<typename semiring::element> matrix,
                  const struct schedule_tile *tiles, uint32_t count, cudaStream_t stream)
{
    fill_tiles_kernel<semiring><<<count, FILL_THREADS, 0, stream>>>(matrix, tiles);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

/* Consecutive edges of a graph, on the device: [first_edge, last_edge) of all its edges, which lie
 * in the rows [first_row, last_row). row_offset is the graph's whole array. */
template <typename weight> struct fill_edges {
    const uint64_t *row_offset;
    const uint32_t *target; /* of first_edge and on */
    const weight *weights;  /* likewise */
    uint64_t first_edge;
    uint64_t last_edge;
    uint32_t first_row;
    uint32_t last_row;
    bool directed;
    struct tile_order order;
};

/* A weight as an element. In 16 bits an edge longer than any distance is as good as none. */
template <typename semiring, typename weight>
static __device__ __forceinline__ typename semiring::element fill_convert(weight value)
{
    if constexpr (semiring_packing<semiring>() == 2) {
        return (typename semiring::element)min(value, (weight)NARROW_UNREACHABLE);
    } else {
        /* -0.0 becomes 0.0, whose bits are in order. */
        return (typename semiring::element)value + (typename semiring::element)0;
    }
}

template <typename semiring, typename weight>
__global__ void __launch_bounds__(FILL_THREADS)
    scatter_kernel(struct tile_matrix<typename semiring::element> matrix,
                   struct fill_edges<weight> edges)
{
    const uint64_t warp = ((uint64_t)blockIdx.x * FILL_THREADS + threadIdx.x) / WARP_THREADS;
    if (warp >= edges.last_row - edges.first_row) {
        return;
    }
    const uint64_t row = edges.first_row + warp;
    const uint64_t begin = max(edges.row_offset[row], edges.first_edge);
    const uint64_t end = min(edges.row_offset[row + 1], edges.last_edge);
    const uint64_t from = tile_position(edges.order, row);
    for (uint64_t edge = begin + threadIdx.x % WARP_THREADS; edge < end; edge += WARP_THREADS) {
        const uint64_t to = tile_position(edges.order, edges.target[edge - edges.first_edge]);
        const typename semiring::element distance =
            fill_convert<semiring>(edges.weights[edge - edges.first_edge]);
        matrix.elements[from * matrix.stride + to] = distance;
        if (!edges.directed) {
            matrix.elements[to * matrix.stride + from] = distance;
        }
    }
}

template <typename semiring, typename weight>
MUST_CHECK static enum status scatter_launch(struct tile_matrix<typename semiring::element> matrix,
                                             struct fill_edges<weight> edges, cudaStream_t stream)
{
    const uint64_t rows = edges.last_row - edges.first_row;
    const uint64_t rows_per_block = FILL_THREADS / WARP_THREADS;
    const uint32_t blocks = (uint32_t)((rows + rows_per_block - 1) / rows_per_block);
    scatter_kernel<semiring, weight><<<blocks, FILL_THREADS, 0, stream>>>(matrix, edges);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

/* The way in: the graph becomes the matrix of the first round. Edges travel in chunks through the
 * two staging buffers, one being filled by the host while the other is on the bus. */

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
        row++;
    }
    edges->first_row = row;
    while (graph->row_offset[row] < edges->last_edge) {
        row++;
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
