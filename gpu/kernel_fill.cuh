/* Prepares the matrix for the first round: sets all elements to unreachable and the diagonal to 0,
 * then writes the edges.
 *
 * fill: one block of 256 threads per tile, for all tiles of the device or for the tiles of a list,
 * with 16-byte stores. Padding vertices also get a 0 on the diagonal. scatter: one warp for each
 * row of the graph that has edges in the chunk; the lanes of the warp share its edges. No two edges
 * write the same element: the graph has no parallel edges, and an undirected edge is stored once,
 * in the row of its smaller endpoint. */
#pragma once

#include "gpu/schedule.h"
#include "gpu/semiring.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

#define FILL_THREADS 256

template <typename semiring>
__global__ void __launch_bounds__(FILL_THREADS)
    fill_kernel(struct tile_matrix<typename semiring::element> matrix,
                const struct schedule_tile *tiles, struct tile_rows rows)
{
    typedef typename semiring::element element;
    constexpr uint32_t across = 16 / sizeof(element);
    const uint32_t tile_count = (uint32_t)(matrix.stride / GPU_TILE);
    const uint32_t tile_row = tiles != nullptr ? tiles[blockIdx.x].row : blockIdx.x / tile_count;
    const uint32_t tile_column =
        tiles != nullptr ? tiles[blockIdx.x].column : blockIdx.x % tile_count;
    const bool diagonal = tile_rows_global(rows, tile_row) == tile_column;
    element *const home = tile_at(matrix, tile_row, tile_column);
    const element far = semiring_unreachable<element>();
    for (uint32_t at = threadIdx.x * across; at < GPU_TILE * GPU_TILE;
         at += FILL_THREADS * across) {
        const uint32_t row = at / GPU_TILE;
        const uint32_t column = at % GPU_TILE;
        __align__(16) element piece[across];
#pragma unroll
        for (uint32_t i = 0; i < across; i++) {
            piece[i] = diagonal && column + i == row ? (element)0 : far;
        }
        *reinterpret_cast<int4 *>(home + row * matrix.stride + column) =
            *reinterpret_cast<const int4 *>(piece);
    }
}

/* Fills tiles. tiles: `count` tiles in device memory; NULL: all tiles of the device's rows. */
template <typename semiring>
MUST_CHECK static enum status fill_launch(struct tile_matrix<typename semiring::element> matrix,
                                          const struct schedule_tile *tiles, uint32_t count,
                                          const struct tile_rows &rows, cudaStream_t stream)
{
    fill_kernel<semiring><<<count, FILL_THREADS, 0, stream>>>(matrix, tiles, rows);
    return try_translate(cudaGetLastError());
}

/* Consecutive edges of a graph, in device memory: edges [first_edge, last_edge), which are in the
 * rows [first_row, last_row). row_offset is the graph's complete array. */
template <typename weight> struct fill_edges {
    const uint64_t *row_offset;
    const uint32_t *target; /* indexed from first_edge */
    const weight *weights;  /* indexed from first_edge */
    uint64_t first_edge;
    uint64_t last_edge;
    uint32_t first_row;
    uint32_t last_row;
    bool directed;
    struct tile_order order;
};

template <typename semiring, typename weight>
__global__ void __launch_bounds__(FILL_THREADS)
    scatter_kernel(struct tile_matrix<typename semiring::element> matrix,
                   struct fill_edges<weight> edges)
{
    typedef typename semiring::element element;
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
        const weight value = edges.weights[edge - edges.first_edge];
        element distance;
        if constexpr (semiring_packing<semiring>() == 2) {
            /* An edge longer than the largest 16-bit distance is not part of a shortest path. */
            distance = (element)min(value, (weight)NARROW_UNREACHABLE);
        } else {
            /* Turns -0.0 into 0.0, because float bits are compared as integers. */
            distance = (element)value + (element)0;
        }
        if (tile_rows_owns(edges.order.rows, (uint32_t)(from / GPU_TILE))) {
            matrix.elements[tile_row_local(edges.order.rows, from) * matrix.stride + to] = distance;
        }
        if (!edges.directed && tile_rows_owns(edges.order.rows, (uint32_t)(to / GPU_TILE))) {
            matrix.elements[tile_row_local(edges.order.rows, to) * matrix.stride + from] = distance;
        }
    }
}

static inline void stage_bytes(struct gpu *gpu, char *to, const void *from, size_t size)
{
    struct staging_copy copy = {};
    copy.to = to;
    copy.from = from;
    copy.size = size;
    staging_copy(gpu->copier, &copy);
}

/* Uploads the graph's edges into the filled matrix, in chunks through the two staging buffers. The
 * host fills one buffer while the other is being transferred. observer may be NULL. */
template <typename semiring, typename weight>
MUST_CHECK static enum status
upload_edges(struct gpu *gpu, const struct graph *graph, const struct workspace *workspace,
             const struct observer *observer, const weight *weights, const struct tile_order &order)
{
    const uint64_t most = workspace->layout.chunk_bytes / (sizeof(weight) + sizeof(uint32_t));
    fill_edges<weight> edges = {};
    edges.row_offset = workspace->row_offset;
    edges.directed = graph->directed;
    edges.order = order;
    uint32_t slot = 0;
    for (uint64_t first = 0; first < graph->edge_count; first = edges.last_edge) {
        const uint64_t left = graph->edge_count - first;
        const uint64_t count = left < most ? left : most;
        const size_t weight_bytes = count * sizeof(weight);
        const size_t target_bytes = count * sizeof(uint32_t);
        char *const host = (char *)gpu->staging[slot];
        char *const device = (char *)workspace->chunk[slot];
        /* In a chunk the weights precede the targets, so that doubles are aligned. */
        GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
        stage_bytes(gpu, host, weights + first, weight_bytes);
        stage_bytes(gpu, host + weight_bytes, graph->target + first, target_bytes);
        GPU_TRY(cudaMemcpyAsync(device, host, weight_bytes + target_bytes, cudaMemcpyHostToDevice,
                                gpu->stream));
        edges.weights = (const weight *)device;
        edges.target = (const uint32_t *)(device + weight_bytes);
        edges.first_edge = first;
        edges.last_edge = first + count;
        /* Find the rows that contain these edges; first_row never decreases. */
        while (graph->row_offset[edges.first_row + 1] <= edges.first_edge) {
            edges.first_row++;
        }
        edges.last_row = edges.first_row;
        while (graph->row_offset[edges.last_row] < edges.last_edge) {
            edges.last_row++;
        }
        const uint64_t rows = edges.last_row - edges.first_row;
        const uint64_t rows_per_block = FILL_THREADS / WARP_THREADS;
        const uint32_t blocks = (uint32_t)((rows + rows_per_block - 1) / rows_per_block);
        scatter_kernel<semiring, weight><<<blocks, FILL_THREADS, 0, gpu->stream>>>(
            workspace_matrix<semiring>(workspace), edges);
        GPU_TRY(cudaGetLastError());
        GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
        if (observer_is_cancelled(observer)) {
            return STATUS_CANCELLED;
        }
        slot = (slot + 1) % DEVICE_CHUNKS;
    }
    return STATUS_OK;
}

/* Uploads the graph into the filled matrix, in stream order. On return the graph's arrays are no
 * longer needed, but the device may still be working. */
template <typename semiring>
MUST_CHECK static enum status
upload_graph(struct gpu *gpu, const struct graph *graph, const struct workspace *workspace,
             const struct observer *observer, const struct tile_order &order)
{
    if (graph->edge_count == 0) {
        return STATUS_OK;
    }
    GPU_TRY(cudaMemcpyAsync(workspace->row_offset, graph->row_offset,
                            ((size_t)graph->vertex_count + 1) * sizeof(uint64_t),
                            cudaMemcpyHostToDevice, gpu->stream));
    return graph->weight_type == WEIGHT_INTEGER
               ? upload_edges<semiring>(gpu, graph, workspace, observer, graph->weight_i4, order)
               : upload_edges<semiring>(gpu, graph, workspace, observer, graph->weight_f8, order);
}
