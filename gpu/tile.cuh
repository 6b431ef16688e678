/* The geometry of a tile, which all kernels share, 16-byte memory accesses, and the translation of
 * CUDA errors to a status.
 *
 * On the device the matrix is row-major with n_pad columns. n_pad is the vertex count rounded up to
 * whole tiles or, for a plan with a vertex order, the number of the plan's tiles times GPU_TILE. A
 * padding vertex reaches only itself, so no kernel needs a special case for the edge of the matrix.
 * Every index into the matrix has 64 bits. */
#pragma once

#include "gpu/gpu.h"
#include "gpu/tile_rows.h"

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

/* Translates the error of a CUDA call to a status. Clears the error unless it is sticky, so that a
 * later check of a launch does not see it again. */
MUST_CHECK static inline enum status try_translate(cudaError_t error)
{
    const enum status status = gpu_fault_status(static_cast<int>(error));
    if (status != STATUS_OK && status != STATUS_DEVICE_LOST) {
        (void)cudaGetLastError();
    }
    return status;
}

/* Returns from the calling function if a CUDA call failed. */
#define GPU_TRY(call)                                                                              \
    do {                                                                                           \
        const enum status try_status = try_translate(call);                                        \
        if (try_status != STATUS_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* Lets each block of a kernel use `bytes` of shared memory. Called before a solve first launches
 * the kernel. The carve-out makes room for a second block on each multiprocessor. */
template <typename kernel> MUST_CHECK static enum status try_prepare(kernel *function, size_t bytes)
{
    GPU_TRY(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    return try_translate(cudaFuncSetAttribute(
        function, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
}

#define WARP_THREADS 32
/* Number of words that a thread loads or stores at once. */
#define QUAD 4

static_assert(GPU_TILE % WARP_THREADS == 0, "a tile row is a whole number of warp accesses");

/* The rows of the matrix that are on one device. */
template <typename element> struct tile_matrix {
    element *elements;
    uint64_t stride; /* number of elements per row: n_pad */
};

/* Positions of the vertices in the matrix, and which tiles contain distances; other tiles were
 * never written and count as unreachable. The arrays are in device memory. They are NULL for the
 * dense plan, where every vertex has its own index as position and every tile is in use. rows: the
 * tile rows of this device. */
struct tile_order {
    const uint32_t *position;
    const uint64_t *held; /* bitmap; bit row tile * tile_count + column tile */
    uint32_t tile_count;
    struct tile_rows rows;
};

/* Returns the index in the device's memory of a row that the device owns. */
static __host__ __device__ __forceinline__ uint64_t tile_row_local(const struct tile_rows &rows,
                                                                   uint64_t row)
{
    return (uint64_t)tile_rows_local(rows, (uint32_t)(row / GPU_TILE)) * GPU_TILE + row % GPU_TILE;
}

static __host__ __device__ __forceinline__ uint64_t tile_row_global(const struct tile_rows &rows,
                                                                    uint64_t row)
{
    return (uint64_t)tile_rows_global(rows, (uint32_t)(row / GPU_TILE)) * GPU_TILE + row % GPU_TILE;
}

static __device__ __forceinline__ uint64_t tile_position(const struct tile_order &order,
                                                         uint64_t vertex)
{
    return order.position != nullptr ? order.position[vertex] : vertex;
}

/* Returns whether the tile at these two positions may hold finite distances. */
static __device__ __forceinline__ bool tile_holds(const struct tile_order &order, uint64_t row,
                                                  uint64_t column)
{
    if (order.held == nullptr) {
        return true;
    }
    const uint64_t bit = row / GPU_TILE * order.tile_count + column / GPU_TILE;
    return (order.held[bit / 64] >> bit % 64 & 1) != 0;
}

/* A flag in device memory that stops a solve after a negative cycle or a cancellation. Blocks of
 * the rounds read it once, when they start; blocks of kernel_small.cuh read it in every round. A
 * block that finds the flag set computes at most the first slabs of its work. A block that has read
 * the flag before it was set runs to completion. */
struct tile_control {
    uint32_t stop;
};

static __device__ __forceinline__ bool tile_stopped(const struct tile_control *control)
{
    return *(const volatile uint32_t *)&control->stop != 0;
}

template <typename element>
static __device__ __forceinline__ element *tile_at(struct tile_matrix<element> matrix,
                                                   uint32_t row_tile, uint32_t column_tile)
{
    return matrix.elements + (uint64_t)row_tile * GPU_TILE * matrix.stride +
           (uint64_t)column_tile * GPU_TILE;
}

/* Loads or stores a quad, by one 16-byte access for 4-byte words, or two for doubles. The address
 * must be aligned to 16 bytes, in global or shared memory. */
template <typename word>
static __device__ __forceinline__ void tile_load_quad(const word *from, word (&to)[QUAD])
{
    static_assert(sizeof(word) == 4, "one access");
    const int4 quad = *reinterpret_cast<const int4 *>(from);
    to[0] = reinterpret_cast<const word &>(quad.x);
    to[1] = reinterpret_cast<const word &>(quad.y);
    to[2] = reinterpret_cast<const word &>(quad.z);
    to[3] = reinterpret_cast<const word &>(quad.w);
}

static __device__ __forceinline__ void tile_load_quad(const double *from, double (&to)[QUAD])
{
    const double2 low = *reinterpret_cast<const double2 *>(from);
    const double2 high = *reinterpret_cast<const double2 *>(from + 2);
    to[0] = low.x;
    to[1] = low.y;
    to[2] = high.x;
    to[3] = high.y;
}

static __device__ __forceinline__ void tile_store_quad(int32_t *to, int32_t a, int32_t b, int32_t c,
                                                       int32_t d)
{
    *reinterpret_cast<int4 *>(to) = make_int4(a, b, c, d);
}

static __device__ __forceinline__ void tile_store_quad(uint32_t *to, uint32_t a, uint32_t b,
                                                       uint32_t c, uint32_t d)
{
    *reinterpret_cast<uint4 *>(to) = make_uint4(a, b, c, d);
}

static __device__ __forceinline__ void tile_store_quad(float *to, float a, float b, float c,
                                                       float d)
{
    *reinterpret_cast<float4 *>(to) = make_float4(a, b, c, d);
}

static __device__ __forceinline__ void tile_store_quad(double *to, double a, double b, double c,
                                                       double d)
{
    *reinterpret_cast<double2 *>(to) = make_double2(a, b);
    *reinterpret_cast<double2 *>(to + 2) = make_double2(c, d);
}

/* Starts the copy of 16 bytes from global to shared memory. */
static __device__ __forceinline__ void tile_copy_16(void *shared, const void *global)
{
    __pipeline_memcpy_async(shared, global, 16);
}

/* First row and column of a thread's 4x4 words in a block of COLUMNS columns. A warp covers 16 x 32
 * words: its loads of a pivot row are consecutive, and loads of a pivot column are few. */
struct tile_place {
    uint32_t row;
    uint32_t column;
};

template <uint32_t COLUMNS> static __device__ __forceinline__ tile_place tile_place_of_thread(void)
{
    constexpr uint32_t warps_across = COLUMNS / 32;
    const uint32_t warp = threadIdx.x / WARP_THREADS;
    const uint32_t lane = threadIdx.x % WARP_THREADS;
    return {warp / warps_across * 16 + lane / 8 * QUAD, warp % warps_across * 32 + lane % 8 * QUAD};
}
