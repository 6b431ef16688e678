/* Packs rows of the padded matrix into a chunk for the host: n elements per row, in the order of
 * the vertices. Elements have the kind in which the solve computes, with that kind's value for
 * unreachable.
 *
 * One block of 256 threads packs a piece of 1024 elements: blockIdx.x is the index of the piece in
 * its row, and blockIdx.y is the index of the row in the chunk. The kernel reports a diagonal
 * element below 0, which means a negative cycle that phase 1 missed because of float rounding. */
#pragma once

#include "gpu/semiring.cuh"

#define FINISH_THREADS 256
#define FINISH_SPAN 1024

/* Words in mapped host memory, in which kernels report why a solve must end. */
struct finish_alarm {
    uint32_t negative;     /* 1: a diagonal element is below 0 */
    uint32_t out_of_range; /* 1: a distance does not fit the kind of the result */
};

struct finish_rows {
    uint32_t vertex_count;
    uint32_t first_row; /* index of the first row among the device's rows */
    uint32_t row_count;
    struct tile_order order;
    volatile struct finish_alarm *alarm;
};

/* Converts one element to the kind of the result. With negative weights, an unreachable integer
 * falls below UNREACHABLE_I4 during the solve and is restored; infinity is not changed. */
static __device__ __forceinline__ void finish_convert(int32_t distance, int32_t *to,
                                                      volatile struct finish_alarm *)
{
    *to = distance > UNREACHABLE_I4_DRIFT ? UNREACHABLE_I4 : distance;
}

static __device__ __forceinline__ void finish_convert(int32_t distance, uint16_t *to,
                                                      volatile struct finish_alarm *alarm)
{
    const bool reachable = distance <= UNREACHABLE_I4_DRIFT;
    if (reachable && (distance < 0 || distance >= UNREACHABLE_U2)) {
        alarm->out_of_range = 1;
    }
    *to = reachable ? (uint16_t)distance : (uint16_t)UNREACHABLE_U2;
}

static __device__ __forceinline__ void finish_convert(uint16_t distance, int32_t *to,
                                                      volatile struct finish_alarm *)
{
    *to = distance == NARROW_UNREACHABLE ? UNREACHABLE_I4 : distance;
}

static __device__ __forceinline__ void finish_convert(uint16_t distance, uint16_t *to,
                                                      volatile struct finish_alarm *)
{
    *to = distance == NARROW_UNREACHABLE ? (uint16_t)UNREACHABLE_U2 : distance;
}

template <typename real>
static __device__ __forceinline__ void finish_convert(real distance, real *to,
                                                      volatile struct finish_alarm *)
{
    *to = distance;
}

template <typename element>
static __device__ __forceinline__ bool finish_is_negative(element distance)
{
    return distance < (element)0;
}

static __device__ __forceinline__ bool finish_is_negative(uint16_t)
{
    return false;
}

template <typename element, typename result>
__global__ void __launch_bounds__(FINISH_THREADS)
    finish_kernel(struct tile_matrix<element> matrix, struct finish_rows rows, result *chunk)
{
    const uint64_t row = tile_row_global(rows.order.rows, rows.first_row + blockIdx.y);
    const uint64_t position = tile_position(rows.order, row);
    const element *const from =
        matrix.elements + tile_row_local(rows.order.rows, position) * matrix.stride;
    result *const to = chunk + (uint64_t)blockIdx.y * rows.vertex_count;
    const uint64_t begin = (uint64_t)blockIdx.x * FINISH_SPAN;
    const uint64_t end = min(begin + FINISH_SPAN, (uint64_t)rows.vertex_count);
    for (uint64_t column = begin + threadIdx.x; column < end; column += FINISH_THREADS) {
        const uint64_t place = tile_position(rows.order, column);
        /* Some tiles are never written. */
        const element distance =
            tile_holds(rows.order, position, place) ? from[place] : semiring_unreachable<element>();
        if (column == row && finish_is_negative(distance)) {
            rows.alarm->negative = 1;
        }
        finish_convert(distance, &to[column], rows.alarm);
    }
}

/* Packs rows into a chunk. rows.row_count is at most 65535, the grid's limit. */
template <typename element, typename result>
MUST_CHECK static enum status finish_launch(struct tile_matrix<element> matrix,
                                            struct finish_rows rows, result *chunk,
                                            cudaStream_t stream)
{
    const dim3 grid((rows.vertex_count + FINISH_SPAN - 1) / FINISH_SPAN, rows.row_count);
    finish_kernel<element, result><<<grid, FINISH_THREADS, 0, stream>>>(matrix, rows, chunk);
    return try_translate(cudaGetLastError());
}
