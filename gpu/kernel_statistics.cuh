/* Computes the statistics of a distance matrix (proto/statistics.h) in two passes over its rows.
 * The first pass reduces each row. The second pass counts the histogram, which needs the diameter.
 *
 * Both passes read final rows, packed to n elements. A distance is unreachable if it is an int32
 * above UNREACHABLE_I4_DRIFT, or equals UNREACHABLE_U2 or infinity. The diagonal is not counted.
 *
 * rows: one block of 256 threads per row. Each thread has four consecutive columns of every 1024,
 * and loads them at once if the row is aligned. Most packed rows are not aligned; a thread then
 * makes four loads, of which three hit the cache lines of the first. The sums are added in the
 * order of statistics_rows.h, so that sums of floats equal the CPU's to the last bit: each thread
 * has a quad of partial sums, and each warp a group.
 *
 * histogram: each block of 256 threads counts every gridDim-th row, in 64 bins per warp in shared
 * memory (2 KiB), and finally adds its bins to the bins of the device. */
#pragma once

#include "gpu/tile.cuh"
#include "proto/kind.h"
#include "proto/statistics_rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define STATISTICS_THREADS (STATISTICS_LANES / STATISTICS_QUAD)
/* Maximum number of blocks of the histogram kernel: enough to fill all multiprocessors, and few
 * enough to add their bins quickly. */
#define STATISTICS_HISTOGRAM_BLOCKS 2048

static_assert(STATISTICS_GROUP_QUADS == 32, "each warp has one group of partial sums");
static_assert(STATISTICS_GROUPS * STATISTICS_GROUP_QUADS == STATISTICS_THREADS,
              "one quad per thread");

/* A run of consecutive rows in the memory of one device. */
template <typename element> struct statistics_rows {
    const element *elements; /* vertex_count elements per row */
    uint32_t vertex_count;
    uint32_t first_row; /* index of the first row among the device's rows */
    uint32_t row_count;
    struct tile_rows rows;
};

/* Output arrays in device memory, with n elements each, indexed by the row of the matrix. */
struct statistics_columns {
    double *eccentricity;
    union statistics_sum *distance_sum;
    uint32_t *reachable;
    unsigned long long *lowest; /* one element: bits of a double, the smallest distance if negative,
                                   else 0 */
};

/* These overloads return whether a distance is finite, or convert it to the type of sums. */
static __device__ __forceinline__ bool statistics_reaches(int32_t distance)
{
    return distance <= UNREACHABLE_I4_DRIFT;
}

static __device__ __forceinline__ bool statistics_reaches(uint16_t distance)
{
    return distance != UNREACHABLE_U2;
}

template <typename real> static __device__ __forceinline__ bool statistics_reaches(real distance)
{
    return distance < INFINITY;
}

/* The types in which distances are summed (`sum`) and compared (`extreme`). */
template <typename element> struct statistics_traits {
    typedef int64_t sum;
    typedef int32_t extreme;
    static constexpr extreme lowest = INT32_MIN;
    static constexpr extreme highest = INT32_MAX;
    static constexpr bool is_float = false;
};

template <typename real> struct statistics_real_traits {
    typedef double sum;
    typedef real extreme;
    static constexpr extreme lowest = -INFINITY;
    static constexpr extreme highest = INFINITY;
    static constexpr bool is_float = true;
};

template <> struct statistics_traits<float> : statistics_real_traits<float> {
};

template <> struct statistics_traits<double> : statistics_real_traits<double> {
};

/* Four elements, which one access of 8 or 16 bytes loads; four doubles need two accesses. */
template <typename element>
struct alignas(sizeof(element) * STATISTICS_QUAD < 16 ? sizeof(element) * STATISTICS_QUAD
                                                      : 16) statistics_quad {
    element at[STATISTICS_QUAD];
};

template <bool ALIGNED, typename element>
static __device__ __forceinline__ statistics_quad<element> statistics_load(const element *from)
{
    if constexpr (ALIGNED) {
        return *reinterpret_cast<const statistics_quad<element> *>(from);
    } else {
        statistics_quad<element> quad;
#pragma unroll
        for (uint32_t e = 0; e < STATISTICS_QUAD; e++) {
            quad.at[e] = from[e];
        }
        return quad;
    }
}

template <typename element, typename visitor>
static __device__ __forceinline__ void
statistics_visit(const statistics_quad<element> &quad, uint64_t column, uint32_t row, visitor visit)
{
#pragma unroll
    for (uint32_t e = 0; e < STATISTICS_QUAD; e++) {
        if (statistics_reaches(quad.at[e]) && column + e != row) {
            visit(e, quad.at[e]);
        }
    }
}

/* Visits the thread's quads from `column` up to `end`, and returns the next column. Each thread
 * keeps several loads in flight, because few threads read a row. */
template <bool ALIGNED, typename element, typename visitor>
static __device__ __forceinline__ uint64_t statistics_walk_quads(const element *line,
                                                                 uint64_t column, uint64_t end,
                                                                 uint32_t row, visitor visit)
{
    constexpr uint32_t depth = 4;
    for (; column + (depth - 1) * STATISTICS_LANES < end; column += depth * STATISTICS_LANES) {
        statistics_quad<element> quads[depth];
#pragma unroll
        for (uint32_t d = 0; d < depth; d++) {
            quads[d] = statistics_load<ALIGNED>(line + column + d * STATISTICS_LANES);
        }
#pragma unroll
        for (uint32_t d = 0; d < depth; d++) {
            statistics_visit(quads[d], column + d * STATISTICS_LANES, row, visit);
        }
    }
    for (; column < end; column += STATISTICS_LANES) {
        statistics_visit(statistics_load<ALIGNED>(line + column), column, row, visit);
    }
    return column;
}

/* Calls visit(index of the column in its quad, distance) for every reachable column of the row
 * except the diagonal. Each thread visits its columns in ascending order. */
template <typename element, typename visitor>
static __device__ __forceinline__ void statistics_walk(const element *line, uint32_t vertex_count,
                                                       uint32_t row, visitor visit)
{
    const uint64_t whole = vertex_count / STATISTICS_QUAD * STATISTICS_QUAD;
    uint64_t column = (uint64_t)threadIdx.x * STATISTICS_QUAD;
    /* All threads of a block take the same branch, because they read the same row. */
    if ((uintptr_t)line % alignof(statistics_quad<element>) == 0) {
        column = statistics_walk_quads<true>(line, column, whole, row, visit);
    } else {
        column = statistics_walk_quads<false>(line, column, whole, row, visit);
    }
    /* Visits the last, incomplete quad of the row if it belongs to this thread. */
#pragma unroll
    for (uint32_t e = 0; e < STATISTICS_QUAD; e++) {
        if (column + e < vertex_count && column + e != row &&
            statistics_reaches(line[column + e])) {
            visit(e, line[column + e]);
        }
    }
}

/* Statistics of the columns that a thread has visited. */
template <typename element> struct statistics_part {
    typename statistics_traits<element>::sum sum;
    typename statistics_traits<element>::extreme most;
    typename statistics_traits<element>::extreme least;
    uint32_t count;
};

template <typename element>
static __device__ __forceinline__ void statistics_join(statistics_part<element> &part,
                                                       const statistics_part<element> &other)
{
    part.sum += other.sum;
    part.most = max(part.most, other.most);
    part.least = min(part.least, other.least);
    part.count += other.count;
}

/* Computes the statistics of the columns that belong to this thread. */
template <typename element>
static __device__ __forceinline__ statistics_part<element>
statistics_reduce_thread(const element *line, uint32_t vertex_count, uint32_t row)
{
    typedef statistics_traits<element> traits;
    typename traits::sum sums[STATISTICS_QUAD] = {0, 0, 0, 0};
    statistics_part<element> part = {0, traits::lowest, traits::highest, 0};
    statistics_walk(line, vertex_count, row, [&](uint32_t e, element distance) {
        sums[e] += distance;
        part.most = max(part.most, (typename traits::extreme)distance);
        part.least = min(part.least, (typename traits::extreme)distance);
        part.count++;
    });
    part.sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return part;
}

/* Stores the statistics of a row. Adding 0.0 removes the sign of a zero, which would depend on the
 * order of the columns. The smallest negative double has the largest bits as an integer. */
template <typename element>
static __device__ __forceinline__ void statistics_store(struct statistics_columns columns,
                                                        uint32_t row,
                                                        const statistics_part<element> &part)
{
    columns.eccentricity[row] = part.count > 0 ? (double)part.most + 0.0 : 0.0;
    columns.reachable[row] = part.count;
    if constexpr (statistics_traits<element>::is_float) {
        columns.distance_sum[row].real = part.sum;
    } else {
        columns.distance_sum[row].integer = part.sum;
    }
    if (part.least < 0) {
        atomicMax(columns.lowest, (unsigned long long)__double_as_longlong((double)part.least));
    }
}

template <typename element>
__global__ void __launch_bounds__(STATISTICS_THREADS)
    statistics_rows_kernel(struct statistics_rows<element> rows, struct statistics_columns columns)
{
    __shared__ statistics_part<element> groups[STATISTICS_GROUPS];
    const uint32_t row = (uint32_t)tile_row_global(rows.rows, rows.first_row + blockIdx.x);
    const element *const line = rows.elements + (uint64_t)blockIdx.x * rows.vertex_count;
    statistics_part<element> part = statistics_reduce_thread(line, rows.vertex_count, row);
    /* Reduces the warp's statistics into lane 0: quad q adds quad q + 16, then q + 8, and so on. */
    for (uint32_t half = STATISTICS_GROUP_QUADS / 2; half > 0; half /= 2) {
        statistics_part<element> other;
        other.sum = __shfl_down_sync(0xFFFFFFFFu, part.sum, half);
        other.most = __shfl_down_sync(0xFFFFFFFFu, part.most, half);
        other.least = __shfl_down_sync(0xFFFFFFFFu, part.least, half);
        other.count = __shfl_down_sync(0xFFFFFFFFu, part.count, half);
        statistics_join(part, other);
    }
    if (threadIdx.x % STATISTICS_GROUP_QUADS == 0) {
        groups[threadIdx.x / STATISTICS_GROUP_QUADS] = part;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (uint32_t group = 1; group < STATISTICS_GROUPS; group++) {
            statistics_join(part, groups[group]);
        }
        statistics_store(columns, row, part);
    }
}

template <typename element>
MUST_CHECK static enum status statistics_rows_launch(struct statistics_rows<element> rows,
                                                     struct statistics_columns columns,
                                                     cudaStream_t stream)
{
    statistics_rows_kernel<element>
        <<<rows.row_count, STATISTICS_THREADS, 0, stream>>>(rows, columns);
    return try_translate(cudaGetLastError());
}

/* Maps a distance to its bin. Integers are divided exactly, because their differences and the width
 * fit 32 bits; floats use the CPU's formula. */
template <typename element> struct statistics_scale {
    double begin;
    double width;

    __device__ __forceinline__ uint32_t place(element distance) const
    {
        if constexpr (statistics_traits<element>::is_float) {
            const double place = ((double)distance - begin) / width;
            return place < STATISTICS_BINS - 1 ? (uint32_t)place : STATISTICS_BINS - 1;
        } else {
            return (uint32_t)((int32_t)distance - (int32_t)begin) / (uint32_t)width;
        }
    }
};

/* Counts the distances of the rows in `bins`, STATISTICS_BINS counters in device memory. */
template <typename element>
__global__ void __launch_bounds__(STATISTICS_THREADS)
    statistics_histogram_kernel(struct statistics_rows<element> rows,
                                struct statistics_scale<element> scale, unsigned long long *bins)
{
    __shared__ uint32_t counts[STATISTICS_GROUPS][STATISTICS_BINS];
    for (uint32_t i = threadIdx.x; i < STATISTICS_GROUPS * STATISTICS_BINS;
         i += STATISTICS_THREADS) {
        counts[i / STATISTICS_BINS][i % STATISTICS_BINS] = 0;
    }
    __syncthreads();
    uint32_t *const own = counts[threadIdx.x / STATISTICS_GROUP_QUADS];
    for (uint32_t i = blockIdx.x; i < rows.row_count; i += gridDim.x) {
        const uint32_t row = (uint32_t)tile_row_global(rows.rows, rows.first_row + i);
        statistics_walk(
            rows.elements + (uint64_t)i * rows.vertex_count, rows.vertex_count, row,
            [&](uint32_t, element distance) { atomicAdd(&own[scale.place(distance)], 1u); });
    }
    __syncthreads();
    if (threadIdx.x < STATISTICS_BINS) {
        unsigned long long sum = 0;
        for (uint32_t group = 0; group < STATISTICS_GROUPS; group++) {
            sum += counts[group][threadIdx.x];
        }
        if (sum > 0) {
            atomicAdd(&bins[threadIdx.x], sum);
        }
    }
}

/* Counts the histogram. A block counts at most n^2 / STATISTICS_HISTOGRAM_BLOCKS elements, or one
 * row. These counts fit the 32-bit counters of its warps for every n below 2.9 million. */
template <typename element>
MUST_CHECK static enum status statistics_histogram_launch(struct statistics_rows<element> rows,
                                                          const struct statistics_summary *summary,
                                                          unsigned long long *bins,
                                                          cudaStream_t stream)
{
    struct statistics_scale<element> scale;
    scale.begin = summary->bin_begin;
    scale.width = summary->bin_width;
    const uint32_t blocks =
        rows.row_count < STATISTICS_HISTOGRAM_BLOCKS ? rows.row_count : STATISTICS_HISTOGRAM_BLOCKS;
    statistics_histogram_kernel<element>
        <<<blocks, STATISTICS_THREADS, 0, stream>>>(rows, scale, bins);
    return try_translate(cudaGetLastError());
}

/* The device side of a struct statistics: its memory, and the copy of the statistics to the host.
 * A solve calls these functions in this order, before it downloads the matrix:
 *
 *   statistics_workspace_init
 *   statistics_rows_launch           for all rows, in any number of launches and any order
 *   statistics_workspace_fetch_rows  waits for the device
 *   statistics_histogram_launch      for all rows again, in the same way
 *   statistics_workspace_fetch_bins  waits for the device */

/* A zeroed struct is empty. */
struct statistics_workspace {
    uint32_t vertex_count;
    unsigned long long *bins; /* STATISTICS_BINS counters for statistics_histogram_launch */
    struct statistics_columns columns;
};

/* Bytes of the bins and of `lowest`, rounded up so that the next array is aligned to 16 bytes. */
#define STATISTICS_WORKSPACE_HEAD_BYTES ((STATISTICS_BINS + 2) * sizeof(unsigned long long))

/* Returns the bytes of contiguous device memory that a statistics_workspace needs. */
static inline uint64_t statistics_workspace_bytes(uint32_t vertex_count)
{
    return STATISTICS_WORKSPACE_HEAD_BYTES + (uint64_t)vertex_count * STATISTICS_VERTEX_BYTES;
}

/* Initialises a workspace in `memory`, borrowed device memory aligned to 16 bytes. */
MUST_CHECK static inline enum status
statistics_workspace_init(struct statistics_workspace *workspace, uint32_t vertex_count,
                          void *memory, cudaStream_t stream)
{
    workspace->vertex_count = vertex_count;
    workspace->bins = (unsigned long long *)memory;
    workspace->columns.lowest = workspace->bins + STATISTICS_BINS;
    workspace->columns.eccentricity = (double *)((char *)memory + STATISTICS_WORKSPACE_HEAD_BYTES);
    workspace->columns.distance_sum =
        (union statistics_sum *)(workspace->columns.eccentricity + vertex_count);
    workspace->columns.reachable = (uint32_t *)(workspace->columns.distance_sum + vertex_count);
    return try_translate(
        cudaMemsetAsync(memory, 0, statistics_workspace_bytes(vertex_count), stream));
}

/* Copies all columns to the host in one transfer, because they are contiguous on both sides.
 * columns: laid out as in a struct statistics. ret_lowest: the least distance if negative, else
 * 0. */
MUST_CHECK static inline enum status
statistics_workspace_fetch_rows(const struct statistics_workspace *workspace, cudaStream_t stream,
                                void *columns, double *ret_lowest)
{
    GPU_TRY(cudaMemcpyAsync(columns, workspace->columns.eccentricity,
                            (size_t)workspace->vertex_count * STATISTICS_VERTEX_BYTES,
                            cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaMemcpyAsync(ret_lowest, workspace->columns.lowest, sizeof(*ret_lowest),
                            cudaMemcpyDeviceToHost, stream));
    return try_translate(cudaStreamSynchronize(stream));
}

MUST_CHECK static inline enum status
statistics_workspace_fetch_bins(const struct statistics_workspace *workspace, cudaStream_t stream,
                                uint64_t *bins)
{
    static_assert(sizeof(*workspace->bins) == sizeof(*bins), "64-bit counts");
    GPU_TRY(cudaMemcpyAsync(bins, workspace->bins, STATISTICS_BINS * sizeof(*bins),
                            cudaMemcpyDeviceToHost, stream));
    return try_translate(cudaStreamSynchronize(stream));
}
