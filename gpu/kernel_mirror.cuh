/* After a symmetric solve: the tiles above the diagonal from those below it, transposed. Inside a
 * diagonal tile both halves are there already.
 *
 * One block of 256 threads per tile above the diagonal, in sixteen pieces of 32x32 elements through
 * shared memory, whose rows are one longer than 32 so that columns are read without a conflict. */
#pragma once

#include "gpu/tile.cuh"
#include "gpu/try.cuh"

#define MIRROR_THREADS 256
#define MIRROR_PIECE 32
#define MIRROR_ROWS (MIRROR_THREADS / MIRROR_PIECE)

static_assert(GPU_TILE % MIRROR_PIECE == 0 && MIRROR_PIECE % MIRROR_ROWS == 0, "whole pieces");

/* from and to: first elements of two pieces of the matrix. */
template <typename element>
static __device__ __forceinline__ void
mirror_piece(const element *from, element *to, uint64_t stride, element (*piece)[MIRROR_PIECE + 1])
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
        to[i * stride + column] = piece[column][i];
    }
    __syncthreads();
}

template <typename element>
__global__ void __launch_bounds__(MIRROR_THREADS)
    mirror_kernel(struct tile_matrix<element> matrix, struct tile_order order)
{
    __shared__ element piece[MIRROR_PIECE][MIRROR_PIECE + 1];
    if (blockIdx.x <= blockIdx.y ||
        !tile_holds(order, (uint64_t)blockIdx.x * GPU_TILE, (uint64_t)blockIdx.y * GPU_TILE)) {
        return;
    }
    const element *const from = tile_at(matrix, blockIdx.x, blockIdx.y);
    element *const to = tile_at(matrix, blockIdx.y, blockIdx.x);
    for (uint32_t i = 0; i < GPU_TILE; i += MIRROR_PIECE) {
        for (uint32_t j = 0; j < GPU_TILE; j += MIRROR_PIECE) {
            mirror_piece(from + i * matrix.stride + j, to + j * matrix.stride + i, matrix.stride,
                         piece);
        }
    }
}

template <typename element>
MUST_CHECK static enum status mirror_launch(struct tile_matrix<element> matrix,
                                            const struct tile_order &order, cudaStream_t stream)
{
    const uint32_t tiles = (uint32_t)(matrix.stride / GPU_TILE);
    mirror_kernel<element><<<dim3(tiles, tiles), MIRROR_THREADS, 0, stream>>>(matrix, order);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}
