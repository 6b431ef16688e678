/* Phase 1: closes the diagonal tile of a round, or the diagonal tiles of a list. To close a tile is
 * to run Floyd-Warshall within the tile, one pivot after another.
 *
 * One block of 256 threads works on each tile. A block is no larger than a block of the interior
 * phase, so that both fit on one multiprocessor. A thread holds 8x8 elements of the 128x128 tile in
 * registers: two quads of rows by two quads of columns; the two quads are 64 rows or columns apart.
 * The pivot row and the pivot column pass through shared memory: while pivot k is read from one
 * buffer, pivot k + 1 is written to the other, so that one barrier per pivot is enough.
 *
 * A negative element on the diagonal means a negative cycle: the block reports it, stops the solve
 * and leaves the tile as it was. Before the first such pivot every element is bounded by the length
 * of a simple path, so no sum overflows; later values are discarded. */
#pragma once

#include "gpu/schedule.h"
#include "gpu/semiring.cuh"

#define DIAGONAL_THREADS 256
#define DIAGONAL_EDGE (2 * QUAD)
/* Number of rows or columns from the start of a thread's first quad to that of its second quad. */
#define DIAGONAL_GAP (GPU_TILE / 2)

static_assert(DIAGONAL_THREADS * DIAGONAL_EDGE * DIAGONAL_EDGE == GPU_TILE * GPU_TILE,
              "8x8 elements per thread");

struct diagonal_step {
    const struct schedule_pivot *pivots; /* list in device memory; NULL: one tile, given below */
    void *closed; /* destination of a copy of the single closed tile; NULL: no copy */
    uint32_t count;
    uint32_t row;   /* tile row in the device's memory */
    uint32_t tile;  /* tile row and column in the whole matrix */
    uint32_t depth; /* number of vertices in the tile; the kernel rounds it up to whole quads */
    struct tile_control *control;
    volatile uint32_t *negative; /* mapped host memory; 1 reports a negative cycle */
};

/* Row and column of the current pivot. */
template <typename scalar> struct diagonal_pivot {
    scalar row[GPU_TILE];
    scalar column[GPU_TILE];
};

template <typename scalar>
static __device__ __forceinline__ void diagonal_load_line(const scalar *from,
                                                          scalar (&to)[DIAGONAL_EDGE])
{
    tile_load_quad(from, reinterpret_cast<scalar(&)[QUAD]>(to[0]));
    tile_load_quad(from + DIAGONAL_GAP, reinterpret_cast<scalar(&)[QUAD]>(to[QUAD]));
}

template <typename scalar>
static __device__ __forceinline__ void diagonal_store_line(scalar *to,
                                                           const scalar (&from)[DIAGONAL_EDGE])
{
    tile_store_quad(to, from[0], from[1], from[2], from[3]);
    tile_store_quad(to + DIAGONAL_GAP, from[4], from[5], from[6], from[7]);
}

/* Writes a pivot's row and column to shared memory, from the threads that hold parts of them. LINE,
 * the pivot's index among a thread's eight lines, is a constant because it selects registers. */
template <uint32_t LINE, typename scalar>
static __device__ __forceinline__ void
diagonal_publish(scalar (&tile)[DIAGONAL_EDGE][DIAGONAL_EDGE], struct tile_place place,
                 uint32_t quad, struct diagonal_pivot<scalar> *shared)
{
    const bool holds_row = place.row == quad;
    const bool holds_column = place.column == quad;
    if (holds_row) {
        diagonal_store_line(shared->row + place.column, tile[LINE]);
    }
    if (holds_column) {
        scalar line[DIAGONAL_EDGE];
#pragma unroll
        for (uint32_t i = 0; i < DIAGONAL_EDGE; i++) {
            line[i] = tile[i][LINE];
        }
        diagonal_store_line(shared->column + place.row, line);
    }
}

/* Relaxes the thread's elements over one pivot. A negative cycle only sets *negative, which is
 * tested after all pivots: a branch on a value just loaded would take a quarter of the time. */
template <typename semiring>
static __device__ __forceinline__ void
diagonal_relax(typename semiring::scalar (&tile)[DIAGONAL_EDGE][DIAGONAL_EDGE],
               struct tile_place place, uint32_t pivot, bool *negative,
               const struct diagonal_pivot<typename semiring::scalar> *shared)
{
    typename semiring::scalar to[DIAGONAL_EDGE];
    typename semiring::scalar from[DIAGONAL_EDGE];
    diagonal_load_line(shared->column + place.row, to);
    diagonal_load_line(shared->row + place.column, from);
    *negative |= shared->row[pivot] < 0;
#pragma unroll
    for (uint32_t i = 0; i < DIAGONAL_EDGE; i++) {
#pragma unroll
        for (uint32_t j = 0; j < DIAGONAL_EDGE; j++) {
            tile[i][j] = semiring::relax(tile[i][j], to[i], from[j]);
        }
    }
}

/* Relaxes over one pivot and writes the next pivot to shared memory. The pivot is line LINE of the
 * threads whose lines begin at `quad`, and is in shared[LINE % 2]. The next pivot is the next line,
 * or the first line of the next quad or of the second half. */
template <typename semiring, uint32_t LINE>
static __device__ __forceinline__ void
diagonal_step_over(typename semiring::scalar (&tile)[DIAGONAL_EDGE][DIAGONAL_EDGE],
                   struct tile_place place, uint32_t quad, bool *negative,
                   struct diagonal_pivot<typename semiring::scalar> *shared)
{
    constexpr uint32_t half = LINE / QUAD;
    const uint32_t pivot = quad + half * DIAGONAL_GAP + LINE % QUAD;
    diagonal_relax<semiring>(tile, place, pivot, negative, &shared[LINE % 2]);
    if (LINE % QUAD + 1 < QUAD) {
        diagonal_publish<(LINE + 1) % DIAGONAL_EDGE>(tile, place, quad, &shared[(LINE + 1) % 2]);
    } else if (quad + QUAD < DIAGONAL_GAP) {
        diagonal_publish<half * QUAD>(tile, place, quad + QUAD, &shared[(LINE + 1) % 2]);
    } else if (half == 0) {
        diagonal_publish<QUAD>(tile, place, 0, &shared[(LINE + 1) % 2]);
    }
    __syncthreads();
}

/* Relaxes the tile over half of the pivots: those in each thread's first quad of lines if HALF is
 * 0, or in its second quad if HALF is 1. */
template <typename semiring, uint32_t HALF>
static __device__ __forceinline__ void
diagonal_close_half(typename semiring::scalar (&tile)[DIAGONAL_EDGE][DIAGONAL_EDGE],
                    struct tile_place place, uint32_t depth, bool *negative,
                    struct diagonal_pivot<typename semiring::scalar> *shared)
{
    constexpr uint32_t line = HALF * QUAD;
    for (uint32_t quad = 0; quad < DIAGONAL_GAP && quad + HALF * DIAGONAL_GAP < depth;
         quad += QUAD) {
        diagonal_step_over<semiring, line>(tile, place, quad, negative, shared);
        diagonal_step_over<semiring, line + 1>(tile, place, quad, negative, shared);
        diagonal_step_over<semiring, line + 2>(tile, place, quad, negative, shared);
        diagonal_step_over<semiring, line + 3>(tile, place, quad, negative, shared);
    }
}

/* Stores the thread's elements. home: address of the thread's first element in the matrix. */
template <typename semiring>
static __device__ __forceinline__ void
diagonal_store(const typename semiring::scalar (&tile)[DIAGONAL_EDGE][DIAGONAL_EDGE],
               typename semiring::element *home, uint64_t stride)
{
#pragma unroll
    for (uint32_t i = 0; i < DIAGONAL_EDGE; i++) {
        const uint64_t line = (i / QUAD * DIAGONAL_GAP + i % QUAD) * stride;
#pragma unroll
        for (uint32_t j = 0; j < DIAGONAL_EDGE; j++) {
            home[line + j / QUAD * DIAGONAL_GAP + j % QUAD] =
                (typename semiring::element)tile[i][j];
        }
    }
}

template <typename semiring>
__global__ void __launch_bounds__(DIAGONAL_THREADS)
    diagonal_kernel(struct tile_matrix<typename semiring::element> matrix,
                    struct diagonal_step step)
{
    typedef typename semiring::scalar scalar;
    __shared__ __align__(16) struct diagonal_pivot<scalar> shared[2];
    if (__syncthreads_or(tile_stopped(step.control))) {
        return;
    }
    const struct tile_place place = tile_place_of_thread<DIAGONAL_GAP>();
    if (step.pivots != nullptr) {
        step.tile = step.pivots[blockIdx.x].tile;
        step.row = step.tile;
        step.depth = step.pivots[blockIdx.x].depth;
    }
    typename semiring::element *const home =
        tile_at(matrix, step.row, step.tile) + place.row * matrix.stride + place.column;
    scalar tile[DIAGONAL_EDGE][DIAGONAL_EDGE];
#pragma unroll
    for (uint32_t i = 0; i < DIAGONAL_EDGE; i++) {
        const uint64_t line = (i / QUAD * DIAGONAL_GAP + i % QUAD) * matrix.stride;
#pragma unroll
        for (uint32_t j = 0; j < DIAGONAL_EDGE; j++) {
            tile[i][j] = home[line + j / QUAD * DIAGONAL_GAP + j % QUAD];
        }
    }
    diagonal_publish<0>(tile, place, 0, &shared[0]);
    __syncthreads();
    bool negative = false;
    diagonal_close_half<semiring, 0>(tile, place, step.depth, &negative, shared);
    diagonal_close_half<semiring, 1>(tile, place, step.depth, &negative, shared);
    if (negative) {
        if (threadIdx.x == 0) {
            *step.negative = 1;
            *(volatile uint32_t *)&step.control->stop = 1;
        }
        return;
    }
    diagonal_store<semiring>(tile, home, matrix.stride);
    if (step.closed != nullptr) {
        diagonal_store<semiring>(
            tile, (typename semiring::element *)step.closed + place.row * GPU_TILE + place.column,
            GPU_TILE);
    }
}

template <typename semiring>
MUST_CHECK static enum status diagonal_launch(struct tile_matrix<typename semiring::element> matrix,
                                              struct diagonal_step step, cudaStream_t stream)
{
    if (step.count == 0) {
        return STATUS_OK;
    }
    diagonal_kernel<semiring><<<step.count, DIAGONAL_THREADS, 0, stream>>>(matrix, step);
    return try_translate(cudaGetLastError());
}
