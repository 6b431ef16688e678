/* The certificate's quick half: rows of the device matrix, copied out and compared with every edge.
 *
 * With d the distances of row i, each edge (u, v, w) must leave d(v) <= d(u) + w, and a finite d(v)
 * is settled by a tight edge, d(v) = d(u) + w, from a vertex that is nearer. A chain of such edges
 * gets nearer at every step, so it ends, and nowhere but in i: when all entries are settled each is
 * the length of a path, and cycles of length 0 cannot vouch for themselves. Entries whose tight
 * edges all come from equally far are then settled by a settled neighbour, pass by pass, which only
 * adds longer chains. All of this holds whatever the weights; what remains open (with weights below
 * 0, or floats that only a wider tolerance accepts) is for kernel_certificate_search.cuh to judge.
 *
 * rows: 256 threads along a row of `pitch` elements, y over the rows; one ballot writes one word of
 * the bitmap. check, spread: one edge per thread, 256 per block, against CERTIFICATE_ROWS rows, y
 * over groups of rows; a row is read through L1 at u and v, neighbouring edges at neighbouring
 * places. tally: one block of 256 threads per row. No shared memory. */
#pragma once

#include "gpu/tile.cuh"
#include "gpu/try.cuh"

#include <math.h>

#define CERTIFICATE_THREADS 256
#define CERTIFICATE_ROWS 16
#define CERTIFICATE_WORD 32
/* Rows of a batch: the grid's y, and the place of a row in a violation's key. */
#define CERTIFICATE_BATCH_MAX 65535

/* The matrix as it lies on the device. Entries within [far_least, far_most] are unreachable. */
template <typename element> struct certificate_matrix {
    const element *elements;
    uint64_t stride;
    element far_least;
    element far_most;
    bool lower_only;     /* symmetric, only tiles on and below the diagonal hold distances */
    bool clamp_diagonal; /* a diagonal entry below 0 counts as 0 */
    struct tile_order order;
};

/* What a row is compared in: its own type, 16 bits widened. */
template <typename element> struct certificate_distance {
    typedef element type;
};
template <> struct certificate_distance<uint16_t> {
    typedef int32_t type;
};

/* A distance plus a weight: exact in integers, else a double as on the host. */
template <typename distance, typename weight> struct certificate_sum {
    typedef double type;
};
template <> struct certificate_sum<int32_t, int32_t> {
    typedef int64_t type;
};

/* What the kernels tell the host. */
struct certificate_tally {
    unsigned long long violation; /* the least key, CERTIFICATE_NO_VIOLATION without one */
    uint32_t open;                /* rows with entries that are not settled */
    uint32_t changed;
};

/* One batch of rows, all on the device. */
template <typename distance> struct certificate_rows {
    distance *distances;     /* row_count x pitch */
    uint32_t *settled;       /* row_count x pitch bits */
    uint32_t *state;         /* row_count: CERTIFICATE_WRONG, CERTIFICATE_OPEN */
    const uint32_t *sources; /* row_count: the rows of the matrix */
    struct certificate_tally *tally;
    uint64_t pitch; /* vertex_count rounded up to CERTIFICATE_WORD */
    uint32_t vertex_count;
    uint32_t row_count;
    double tolerance; /* relative, see proto/verification.h */
    double epsilon;
    double least; /* added to every magnitude */
};

#define CERTIFICATE_WRONG 1u
#define CERTIFICATE_OPEN 2u

/* Consecutive edges of the graph, on the device. */
template <typename weight> struct certificate_edges {
    const weight *weights;
    const uint32_t *source;
    const uint32_t *target;
    uint64_t first; /* the graph's index of the first one */
    uint32_t count;
    bool directed;
};

static __device__ __forceinline__ bool certificate_is_far(int32_t distance)
{
    return distance == UNREACHABLE_I4;
}

static __device__ __forceinline__ bool certificate_is_far(double distance)
{
    return distance == INFINITY;
}

static __device__ __forceinline__ bool certificate_is_far(float distance)
{
    return distance == INFINITY;
}

static __device__ __forceinline__ void certificate_set_far(int32_t *distance)
{
    *distance = UNREACHABLE_I4;
}

static __device__ __forceinline__ void certificate_set_far(float *distance)
{
    *distance = INFINITY;
}

static __device__ __forceinline__ void certificate_set_far(double *distance)
{
    *distance = INFINITY;
}

/* How far a sum may be off: part of the magnitudes that went into it. */
static __device__ __forceinline__ double certificate_slack(double sum, double relative,
                                                           double magnitude)
{
    (void)sum;
    return relative > 0 ? relative * magnitude : 0;
}

static __device__ __forceinline__ int64_t certificate_slack(int64_t sum, double relative,
                                                            double magnitude)
{
    (void)sum;
    (void)relative;
    (void)magnitude;
    return 0;
}

template <typename element>
static __device__ __forceinline__ element
certificate_entry(const struct certificate_matrix<element> matrix, uint64_t source, uint64_t target)
{
    const uint64_t row = tile_position(matrix.order, source);
    const uint64_t column = tile_position(matrix.order, target);
    if (!tile_holds(matrix.order, row, column)) {
        return matrix.far_least;
    }
    const bool across = matrix.lower_only && row / GPU_TILE < column / GPU_TILE;
    return across ? matrix.elements[column * matrix.stride + row]
                  : matrix.elements[row * matrix.stride + column];
}

template <typename element, typename distance>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_rows_kernel(struct certificate_matrix<element> matrix,
                            struct certificate_rows<distance> rows)
{
    const uint32_t row = blockIdx.y;
    const uint32_t source = rows.sources[row];
    const uint64_t column = (uint64_t)blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (column >= rows.pitch) {
        return; /* whole warps only */
    }
    distance value;
    certificate_set_far(&value);
    if (column < rows.vertex_count) {
        const element entry = certificate_entry(matrix, source, column);
        if (!(entry >= matrix.far_least && entry <= matrix.far_most)) {
            value = (distance)entry;
        }
    }
    if (column == source) {
        if (matrix.clamp_diagonal && value < 0) {
            value = 0;
        }
        rows.state[row] = value == 0 ? 0 : CERTIFICATE_WRONG;
    }
    rows.distances[row * rows.pitch + column] = value;
    const uint32_t word = __ballot_sync(0xFFFFFFFFu, column == source || certificate_is_far(value));
    if (threadIdx.x % CERTIFICATE_WORD == 0) {
        rows.settled[(row * rows.pitch + column) / CERTIFICATE_WORD] = word;
    }
}

template <typename distance>
static __device__ __forceinline__ bool
certificate_is_settled(const struct certificate_rows<distance> &rows, uint64_t line,
                       uint32_t vertex)
{
    const uint64_t bit = line + vertex;
    return (rows.settled[bit / CERTIFICATE_WORD] >> bit % CERTIFICATE_WORD & 1) != 0;
}

/* True when the bit was not set yet. */
template <typename distance>
static __device__ __forceinline__ bool
certificate_settle(const struct certificate_rows<distance> &rows, uint64_t line, uint32_t vertex)
{
    const uint64_t bit = line + vertex;
    if (certificate_is_settled(rows, line, vertex)) {
        return false;
    }
    atomicOr(&rows.settled[bit / CERTIFICATE_WORD], 1u << bit % CERTIFICATE_WORD);
    return true;
}

/* One way along an edge, from a vertex at `near` to `vertex` at `there`. Written so that a NaN is
 * an objection too. */
template <typename distance, typename weight>
static __device__ __forceinline__ void
certificate_check_step(const struct certificate_rows<distance> &rows, uint32_t row, distance near,
                       distance there, weight length, uint32_t vertex)
{
    typedef typename certificate_sum<distance, weight>::type sum;
    if (certificate_is_far(near)) {
        return;
    }
    const sum along = (sum)near + (sum)length;
    const sum slack = certificate_slack(along, rows.tolerance,
                                        fabs((double)near) + fabs((double)length) + rows.least);
    if (certificate_is_far(there) || !((sum)there <= along + slack)) {
        rows.state[row] = CERTIFICATE_WRONG;
    } else if (near < there && along - (sum)there <= slack) {
        (void)certificate_settle(rows, row * rows.pitch, vertex);
    }
}

template <typename distance, typename weight>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_check_kernel(struct certificate_rows<distance> rows,
                             struct certificate_edges<weight> edges)
{
    const uint32_t place = blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (place >= edges.count) {
        return;
    }
    const uint32_t from = edges.source[place];
    const uint32_t to = edges.target[place];
    const weight length = edges.weights[place];
    const uint32_t first = blockIdx.y * CERTIFICATE_ROWS;
    const uint32_t last = min(first + CERTIFICATE_ROWS, rows.row_count);
    for (uint32_t row = first; row < last; ++row) {
        const distance near = __ldg(rows.distances + row * rows.pitch + from);
        const distance there = __ldg(rows.distances + row * rows.pitch + to);
        certificate_check_step(rows, row, near, there, length, to);
        if (!edges.directed) {
            certificate_check_step(rows, row, there, near, length, from);
        }
    }
}

/* From a settled vertex to one that is as far. */
template <typename distance, typename weight>
static __device__ __forceinline__ void
certificate_spread_step(const struct certificate_rows<distance> &rows, uint32_t row, uint32_t from,
                        uint32_t to)
{
    const uint64_t line = row * rows.pitch;
    if (certificate_is_settled(rows, line, from) && certificate_settle(rows, line, to)) {
        rows.tally->changed = 1;
    }
}

template <typename distance, typename weight>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_spread_kernel(struct certificate_rows<distance> rows,
                              struct certificate_edges<weight> edges)
{
    typedef typename certificate_sum<distance, weight>::type sum;
    const uint32_t place = blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (place >= edges.count) {
        return;
    }
    const uint32_t from = edges.source[place];
    const uint32_t to = edges.target[place];
    const double length = fabs((double)edges.weights[place]);
    const uint32_t first = blockIdx.y * CERTIFICATE_ROWS;
    const uint32_t last = min(first + CERTIFICATE_ROWS, rows.row_count);
    for (uint32_t row = first; row < last; ++row) {
        const distance near = __ldg(rows.distances + row * rows.pitch + from);
        const distance there = __ldg(rows.distances + row * rows.pitch + to);
        const double slack =
            certificate_slack((sum)0, rows.tolerance, fabs((double)near) + length + rows.least);
        if (near == there && !certificate_is_far(near) && length <= slack) {
            certificate_spread_step<distance, weight>(rows, row, from, to);
            if (!edges.directed) {
                certificate_spread_step<distance, weight>(rows, row, to, from);
            }
        }
    }
}

/* Which rows are open. */
template <typename distance>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_tally_kernel(struct certificate_rows<distance> rows)
{
    const uint32_t row = blockIdx.x;
    const uint64_t words = rows.pitch / CERTIFICATE_WORD;
    int open = 0;
    for (uint64_t word = threadIdx.x; word < words; word += CERTIFICATE_THREADS) {
        open |= rows.settled[row * words + word] != 0xFFFFFFFFu;
    }
    open = __syncthreads_or(open);
    if (threadIdx.x == 0) {
        rows.state[row] = (rows.state[row] & CERTIFICATE_WRONG) | (open ? CERTIFICATE_OPEN : 0);
        if (open) {
            atomicAdd(&rows.tally->open, 1);
        }
    }
}

static inline uint32_t certificate_blocks(uint64_t threads)
{
    return (uint32_t)((threads + CERTIFICATE_THREADS - 1) / CERTIFICATE_THREADS);
}

template <typename distance, typename weight>
static inline dim3 certificate_grid(const struct certificate_rows<distance> &rows,
                                    const struct certificate_edges<weight> &edges)
{
    return dim3(certificate_blocks(edges.count),
                (rows.row_count + CERTIFICATE_ROWS - 1) / CERTIFICATE_ROWS);
}

template <typename element, typename distance>
MUST_CHECK static enum status
certificate_rows_launch(const struct certificate_matrix<element> &matrix,
                        const struct certificate_rows<distance> &rows, cudaStream_t stream)
{
    const dim3 grid(certificate_blocks(rows.pitch), rows.row_count);
    certificate_rows_kernel<element, distance>
        <<<grid, CERTIFICATE_THREADS, 0, stream>>>(matrix, rows);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance, typename weight>
MUST_CHECK static enum status
certificate_check_launch(const struct certificate_rows<distance> &rows,
                         const struct certificate_edges<weight> &edges, cudaStream_t stream)
{
    certificate_check_kernel<distance, weight>
        <<<certificate_grid(rows, edges), CERTIFICATE_THREADS, 0, stream>>>(rows, edges);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance, typename weight>
MUST_CHECK static enum status
certificate_spread_launch(const struct certificate_rows<distance> &rows,
                          const struct certificate_edges<weight> &edges, cudaStream_t stream)
{
    certificate_spread_kernel<distance, weight>
        <<<certificate_grid(rows, edges), CERTIFICATE_THREADS, 0, stream>>>(rows, edges);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance>
MUST_CHECK static enum status
certificate_tally_launch(const struct certificate_rows<distance> &rows, cudaStream_t stream)
{
    certificate_tally_kernel<distance><<<rows.row_count, CERTIFICATE_THREADS, 0, stream>>>(rows);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

/* One thread per vertex: `changed` tells of a diagonal entry below 0. */
template <typename element>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_diagonal_kernel(struct certificate_matrix<element> matrix, uint32_t vertex_count,
                                struct certificate_tally *tally)
{
    const uint32_t vertex = blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (vertex >= vertex_count) {
        return;
    }
    typedef typename certificate_distance<element>::type distance;
    if ((distance)certificate_entry(matrix, vertex, vertex) < 0) {
        tally->changed = 1;
    }
}

template <typename element>
MUST_CHECK static enum status
certificate_diagonal_launch(const struct certificate_matrix<element> &matrix, uint32_t vertex_count,
                            struct certificate_tally *tally, cudaStream_t stream)
{
    certificate_diagonal_kernel<element>
        <<<certificate_blocks(vertex_count), CERTIFICATE_THREADS, 0, stream>>>(matrix, vertex_count,
                                                                               tally);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}
