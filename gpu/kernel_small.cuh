/* A whole solve of a graph of up to about 2,000 vertices in one cooperative launch. At this size a
 * round takes a few microseconds, and a launch per phase would cost more than the arithmetic.
 *
 * Blocks have 256 threads and 83 KiB of shared memory (68 KiB for doubles). Every block runs for
 * the whole solve and finds its work by its index. A round has two steps, each followed by a
 * barrier of the whole grid. The first step computes the panels of the pivot, as products with its
 * closed tile, in strips of half a tile with 4x2 or 2x4 elements per thread. The second step
 * computes the interior with 4x4 elements per thread, or with 8x4 in pairs of tiles if there are
 * many tiles. In this step the first block relaxes and closes the next pivot's tile while the other
 * blocks compute the other tiles.
 *
 * Operands are read from the matrix, which stays in the L2 cache. */
#pragma once

#include "gpu/small_tile.cuh"

#include <cooperative_groups.h>

#define SMALL_STRIPS (SMALL_TILE / SMALL_STRIP)

template <typename semiring>
static __device__ __forceinline__ void
small_close_and_keep(struct tile_matrix<typename semiring::element> matrix,
                     const struct small_step &step, uint32_t pivot,
                     struct small_part<typename semiring::element, QUAD, QUAD, 1> &part,
                     struct small_shared<typename semiring::element> *shared)
{
    const struct tile_place place = tile_place_of_thread<SMALL_TILE>();
    if (small_close<semiring>(part, shared)) {
        small_store(part, small_inside(small_tile(matrix, pivot, pivot), place.row, place.column));
    } else {
        small_stop(step);
    }
    /* After this barrier the next tile may overwrite the shared memory that small_close reads. */
    __syncthreads();
}

/* Computes half of a row tile: all rows and 32 columns. */
template <typename semiring>
static __device__ __forceinline__ void
small_row_strip(struct tile_matrix<typename semiring::element> matrix, uint32_t pivot,
                uint32_t column, uint32_t strip,
                struct small_shared<typename semiring::element> *shared)
{
    const struct small_view<typename semiring::element> home =
        small_inside(small_tile(matrix, pivot, column), 0, strip * SMALL_STRIP);
    struct small_part<typename semiring::element, QUAD, 2, 1> part;
    const struct tile_place place = {threadIdx.x / (SMALL_STRIP / 2) * QUAD,
                                     threadIdx.x % (SMALL_STRIP / 2) * 2};
    small_relax<semiring, SMALL_TILE, SMALL_STRIP>(part, place, small_tile(matrix, pivot, pivot),
                                                   home, home, shared);
    small_store(part, small_inside(home, place.row, place.column));
}

/* Computes half of a column tile: 32 rows and all columns. */
template <typename semiring>
static __device__ __forceinline__ void
small_column_strip(struct tile_matrix<typename semiring::element> matrix, uint32_t pivot,
                   uint32_t row, uint32_t strip,
                   struct small_shared<typename semiring::element> *shared)
{
    const struct small_view<typename semiring::element> home =
        small_inside(small_tile(matrix, row, pivot), strip * SMALL_STRIP, 0);
    struct small_part<typename semiring::element, 2, QUAD, 1> part;
    const struct tile_place place = {threadIdx.x / (SMALL_TILE / QUAD) * 2,
                                     threadIdx.x % (SMALL_TILE / QUAD) * QUAD};
    small_relax<semiring, SMALL_STRIP, SMALL_TILE>(part, place, home,
                                                   small_tile(matrix, pivot, pivot), home, shared);
    small_store(part, small_inside(home, place.row, place.column));
}

/* Returns the index of tile row (or column) number `place`, not counting that of the pivot. */
static __device__ __forceinline__ uint32_t small_other(uint32_t place, uint32_t pivot)
{
    return place + (place >= pivot ? 1 : 0);
}

/* Computes the block's strips of the panels. Row tiles are numbered before column tiles. */
template <typename semiring>
static __device__ __forceinline__ void
small_panels(struct tile_matrix<typename semiring::element> matrix, const struct small_step &step,
             uint32_t pivot, struct small_shared<typename semiring::element> *shared)
{
    const uint32_t others = step.tile_count - 1;
    const uint32_t strips = others * SMALL_STRIPS;
    for (uint32_t index = blockIdx.x; index < 2 * strips; index += gridDim.x) {
        const uint32_t place = index % strips / SMALL_STRIPS;
        const uint32_t other = small_other(place, pivot);
        if (index < strips) {
            small_row_strip<semiring>(matrix, pivot, other, index % SMALL_STRIPS, shared);
        } else {
            small_column_strip<semiring>(matrix, pivot, other, index % SMALL_STRIPS, shared);
        }
    }
}

/* Relaxes the interior tile (row, column) over the pivot tile. */
template <typename semiring>
static __device__ __forceinline__ void
small_interior_at(struct tile_matrix<typename semiring::element> matrix, uint32_t row,
                  uint32_t column, uint32_t pivot,
                  struct small_shared<typename semiring::element> *shared)
{
    const struct tile_place place = small_place<QUAD>();
    const struct small_view<typename semiring::element> left = small_tile(matrix, row, pivot);
    const struct small_view<typename semiring::element> right = small_tile(matrix, pivot, column);
    const struct small_view<typename semiring::element> home = small_tile(matrix, row, column);
    struct small_part<typename semiring::element, QUAD, QUAD, 4> part;
    small_relax<semiring, SMALL_TILE, SMALL_TILE>(part, place, left, right, home, shared);
    small_store(part, small_inside(home, place.row, place.column));
}

/* Computes interior tiles one at a time: tile `first` and every step_by-th tile after it, except
 * the diagonal tile of the next pivot. */
template <typename semiring>
static __device__ __forceinline__ void
small_interior_tiles(struct tile_matrix<typename semiring::element> matrix, uint32_t others,
                     uint32_t pivot, uint32_t first, uint32_t step_by,
                     struct small_shared<typename semiring::element> *shared)
{
    for (uint32_t index = first; index < others * others; index += step_by) {
        const uint32_t row = small_other(index / others, pivot);
        const uint32_t column = small_other(index % others, pivot);
        if (row != pivot + 1 || column != pivot + 1) {
            small_interior_at<semiring>(matrix, row, column, pivot, shared);
        }
    }
}

/* Computes interior tiles in pairs, except the diagonal tile of the next pivot. If the second tile
 * of a pair is that tile or does not exist, computes the first tile alone. */
template <typename semiring>
static __device__ __forceinline__ void
small_interior_pairs(struct tile_matrix<typename semiring::element> matrix, uint32_t others,
                     uint32_t pivot, uint32_t first, uint32_t step_by,
                     struct small_shared<typename semiring::element> *shared)
{
    const uint32_t pairs = (others + 1) / 2;
    for (uint32_t index = first; index < pairs * others; index += step_by) {
        const uint32_t place = index / others * 2;
        const uint32_t row0 = small_other(place, pivot);
        const uint32_t row1 = small_other(place + 1, pivot);
        const uint32_t column = small_other(index % others, pivot);
        const bool is_next = column == pivot + 1;
        if (place + 1 < others && !(is_next && (row0 == pivot + 1 || row1 == pivot + 1))) {
            small_interior_pair<semiring>(
                {{small_tile(matrix, row0, pivot), small_tile(matrix, row1, pivot)},
                 small_tile(matrix, pivot, column),
                 {small_tile(matrix, row0, column), small_tile(matrix, row1, column)}},
                shared);
        } else if (!is_next || row0 != pivot + 1) {
            small_interior_at<semiring>(matrix, row0, column, pivot, shared);
        } else if (place + 1 < others) {
            small_interior_at<semiring>(matrix, row1, column, pivot, shared);
        }
    }
}

/* Computes the interior. The first block relaxes and closes the diagonal tile of the next pivot,
 * and does nothing else unless it is the only block. */
template <typename semiring>
static __device__ __forceinline__ void
small_interior(struct tile_matrix<typename semiring::element> matrix, const struct small_step &step,
               uint32_t pivot, struct small_shared<typename semiring::element> *shared)
{
    const uint32_t others = step.tile_count - 1;
    const bool alone = gridDim.x == 1;
    if (blockIdx.x == 0 && pivot + 1 < step.tile_count) {
        struct small_part<typename semiring::element, QUAD, QUAD, 1> part;
        small_relax<semiring, SMALL_TILE, SMALL_TILE>(
            part, tile_place_of_thread<SMALL_TILE>(), small_tile(matrix, pivot + 1, pivot),
            small_tile(matrix, pivot, pivot + 1), small_tile(matrix, pivot + 1, pivot + 1), shared);
        small_close_and_keep<semiring>(matrix, step, pivot + 1, part, shared);
    }
    if (blockIdx.x == 0 && !alone) {
        return;
    }
    const uint32_t first = alone ? 0 : blockIdx.x - 1;
    const uint32_t blocks = alone ? 1 : gridDim.x - 1;
    if constexpr (small_pairs<semiring>()) {
        if (others * others >= 2 * blocks) {
            small_interior_pairs<semiring>(matrix, others, pivot, first, blocks, shared);
            return;
        }
    }
    small_interior_tiles<semiring>(matrix, others, pivot, first, blocks, shared);
}

/* Blocks per multiprocessor. 8x4 elements per thread leave no registers for a third block. */
#define SMALL_BLOCKS_PER_MULTIPROCESSOR 2

template <typename semiring>
__global__ void __launch_bounds__(SMALL_THREADS, SMALL_BLOCKS_PER_MULTIPROCESSOR)
    small_kernel(struct tile_matrix<typename semiring::element> matrix,
                 const __grid_constant__ struct small_step step)
{
    typedef typename semiring::element element;
    extern __shared__ __align__(128) unsigned char block_storage[];
    struct small_shared<element> *const shared =
        reinterpret_cast<struct small_shared<element> *>(block_storage);
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (blockIdx.x == 0) {
        struct small_part<element, QUAD, QUAD, 1> part;
        const struct tile_place place = tile_place_of_thread<SMALL_TILE>();
        small_load(part, small_inside(small_tile(matrix, 0, 0), place.row, place.column));
        small_close_and_keep<semiring>(matrix, step, 0, part, shared);
    }
    for (uint32_t pivot = 0; pivot < step.tile_count; pivot++) {
        grid.sync();
        if (tile_stopped(step.control)) {
            return;
        }
        small_panels<semiring>(matrix, step, pivot, shared);
        grid.sync();
        small_interior<semiring>(matrix, step, pivot, shared);
    }
}

/* Launches one block per tile, but no more than the device can run at the same time. */
template <typename semiring>
MUST_CHECK static enum status small_launch(struct tile_matrix<typename semiring::element> matrix,
                                           struct small_step step, uint32_t multiprocessors,
                                           cudaStream_t stream)
{
    constexpr size_t shared_bytes = sizeof(struct small_shared<typename semiring::element>);
    const uint32_t tiles = step.tile_count * step.tile_count;
    int together = 0;
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, small_kernel<semiring>,
                                                          SMALL_THREADS, shared_bytes));
    const uint32_t most = multiprocessors * (uint32_t)together;
    void *arguments[] = {&matrix, &step};
    return try_translate(cudaLaunchCooperativeKernel(
        (const void *)small_kernel<semiring>, dim3(tiles < most ? tiles : most),
        dim3(SMALL_THREADS), arguments, shared_bytes, stream));
}
