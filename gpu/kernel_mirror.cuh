/* Transposes the tiles below the diagonal into the tiles above it: directly within one device's
 * memory, or packed for other devices (mirror.cuh).
 *
 * One block of 256 threads transposes a tile, in sixteen pieces of 32x32 elements, through shared
 * memory. Rows there are one element longer, so that columns are read without bank conflicts. */
#pragma once

#include "gpu/semiring.cuh"

#define MIRROR_THREADS 256
#define MIRROR_PIECE 32
#define MIRROR_ROWS (MIRROR_THREADS / MIRROR_PIECE)

static_assert(GPU_TILE % MIRROR_PIECE == 0 && MIRROR_PIECE % MIRROR_ROWS == 0, "whole pieces");

/* Transposes one piece. from, to: its first elements. stride, to_stride: elements per row. */
template <typename element>
static __device__ __forceinline__ void mirror_piece(const element *from, uint64_t stride,
                                                    element *to, uint64_t to_stride,
                                                    element (*piece)[MIRROR_PIECE + 1])
{
    const uint32_t column = threadIdx.x % MIRROR_PIECE;
    const uint32_t row = threadIdx.x / MIRROR_PIECE;
#pragma unroll
    for (uint32_t i = row; i < MIRROR_PIECE; i += MIRROR_ROWS) {
        piece[i][column] = from[i * stride + column];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = row; i < MIRROR_PIECE; i += MIRROR_ROWS) {
        to[i * to_stride + column] = piece[column][i];
    }
    __syncthreads();
}

template <typename element>
static __device__ __forceinline__ void mirror_tile(const element *from, uint64_t stride,
                                                   element *to, uint64_t to_stride)
{
    __shared__ element piece[MIRROR_PIECE][MIRROR_PIECE + 1];
    for (uint32_t i = 0; i < GPU_TILE; i += MIRROR_PIECE) {
        for (uint32_t j = 0; j < GPU_TILE; j += MIRROR_PIECE) {
            mirror_piece(from + i * stride + j, stride, to + j * to_stride + i, to_stride, piece);
        }
    }
}

/* Mirrors the tiles of one device. Grid: tile columns x the device's tile rows. */
template <typename element>
__global__ void __launch_bounds__(MIRROR_THREADS)
    mirror_kernel(struct tile_matrix<element> matrix, struct tile_order order)
{
    const uint32_t column = blockIdx.x;
    const uint32_t row = tile_rows_global(order.rows, blockIdx.y);
    if (column >= row || !tile_rows_owns(order.rows, column) ||
        !tile_holds(order, (uint64_t)row * GPU_TILE, (uint64_t)column * GPU_TILE)) {
        return;
    }
    mirror_tile(tile_at(matrix, blockIdx.y, column), matrix.stride,
                tile_at(matrix, tile_rows_local(order.rows, column), row), matrix.stride);
}

template <typename element>
MUST_CHECK static enum status mirror_launch(struct tile_matrix<element> matrix,
                                            const struct tile_order &order, cudaStream_t stream)
{
    const uint32_t tiles = (uint32_t)(matrix.stride / GPU_TILE);
    mirror_kernel<element>
        <<<dim3(tiles, tile_rows_count(order.rows, tiles)), MIRROR_THREADS, 0, stream>>>(matrix,
                                                                                         order);
    return try_translate(cudaGetLastError());
}

/* Transposes the tiles of one tile row into slots, grouped by the member that will store them. */
template <typename element>
__global__ void __launch_bounds__(MIRROR_THREADS)
    mirror_pack_kernel(struct tile_matrix<element> matrix, struct tile_rows rows, uint32_t row,
                       element *slots)
{
    const uint32_t column = blockIdx.x;
    if (!tile_rows_owns(rows, column)) {
        mirror_tile(tile_at(matrix, tile_rows_local(rows, row), column), matrix.stride,
                    slots + (uint64_t)tile_rows_slot(rows, column) * GPU_TILE * GPU_TILE, GPU_TILE);
    }
}

/* Transposes one of this device's tile rows for other members. row: global index, at least 1. */
template <typename element>
MUST_CHECK static enum status mirror_pack_launch(struct tile_matrix<element> matrix,
                                                 const struct tile_rows &rows, uint32_t row,
                                                 element *slots, cudaStream_t stream)
{
    mirror_pack_kernel<element><<<row, MIRROR_THREADS, 0, stream>>>(matrix, rows, row, slots);
    return try_translate(cudaGetLastError());
}

/* Copies the tiles received from another member's tile row into their tile column. */
template <typename element>
__global__ void __launch_bounds__(MIRROR_THREADS)
    mirror_unpack_kernel(struct tile_matrix<element> matrix, uint32_t column, const element *slots)
{
    constexpr uint32_t across = 16 / sizeof(element);
    const element *const from = slots + (uint64_t)blockIdx.x * GPU_TILE * GPU_TILE;
    element *const to = tile_at(matrix, blockIdx.x, column);
    for (uint32_t at = threadIdx.x * across; at < GPU_TILE * GPU_TILE;
         at += MIRROR_THREADS * across) {
        *reinterpret_cast<int4 *>(to + at / GPU_TILE * matrix.stride + at % GPU_TILE) =
            *reinterpret_cast<const int4 *>(from + at);
    }
}

/* Copies received tiles. column: the sender's tile row, which is this device's tile column. */
template <typename element>
MUST_CHECK static enum status mirror_unpack_launch(struct tile_matrix<element> matrix,
                                                   const struct tile_rows &rows, uint32_t column,
                                                   const element *slots, cudaStream_t stream)
{
    const uint32_t count = tile_rows_count(rows, column);
    if (count == 0) {
        return STATUS_OK;
    }
    mirror_unpack_kernel<element><<<count, MIRROR_THREADS, 0, stream>>>(
        matrix, column, slots + (uint64_t)rows.member * rows.most * GPU_TILE * GPU_TILE);
    return try_translate(cudaGetLastError());
}
