/* The certificate's thorough half, for rows that the quick one leaves open: the search of
 * server/solver/certificate.c, level by level from the row's vertex along tight edges.
 *
 * It keeps the hops and the magnitude (sum of |weight|) of a tight path to every entry, from which
 * the tolerance of floats comes. A level reads only what earlier levels wrote, and of several paths
 * the least magnitude is kept, so that every run says the same. When a level reaches nothing more,
 * every finite entry must have been reached and no edge may shorten one: the first objection, by
 * row, then kind, then place, is the least key.
 *
 * search, judge_edges: one edge per thread, 256 per block, against CERTIFICATE_ROWS rows, y over
 * groups of rows. begin, judge_entries: 256 threads along a row, y over the rows. */
#pragma once

#include "gpu/kernel_certificate.cuh"

#define CERTIFICATE_UNREACHED 0xFFFFFFFFu
#define CERTIFICATE_NO_VIOLATION 0xFFFFFFFFFFFFFFFFull

/* Doubles of at least 0 are ordered as their bits are; all bits set is above all of them. */
struct certificate_reach {
    uint32_t *hops;                /* row_count x pitch */
    unsigned long long *magnitude; /* row_count x pitch, bits of a double */
};

/* A key: row of the batch, kind of violation, whether an undirected edge is meant backwards, and
 * the edge's index in the graph or the entry's column. */
#define CERTIFICATE_KEY_ROW 48
#define CERTIFICATE_KEY_KIND 46
#define CERTIFICATE_KEY_BACK 45
#define CERTIFICATE_KEY_PLACE ((1ull << CERTIFICATE_KEY_BACK) - 1)

static __device__ __forceinline__ void certificate_object(struct certificate_tally *tally,
                                                          uint32_t row, enum violation_kind kind,
                                                          bool back, uint64_t place)
{
    const unsigned long long key = (unsigned long long)row << CERTIFICATE_KEY_ROW |
                                   (unsigned long long)kind << CERTIFICATE_KEY_KIND |
                                   (unsigned long long)back << CERTIFICATE_KEY_BACK |
                                   (unsigned long long)place;
    atomicMin(&tally->violation, key);
}

template <typename distance>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_begin_kernel(struct certificate_rows<distance> rows, struct certificate_reach reach)
{
    const uint32_t row = blockIdx.y;
    const uint64_t column = (uint64_t)blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (column < rows.pitch) {
        const bool is_source = column == rows.sources[row];
        reach.hops[row * rows.pitch + column] = is_source ? 0 : CERTIFICATE_UNREACHED;
        reach.magnitude[row * rows.pitch + column] = is_source ? 0 : ~0ull;
    }
}

/* The tolerance of a comparison at the end of a path of these hops and magnitude. */
template <typename distance>
static __device__ __forceinline__ double
certificate_relative(const struct certificate_rows<distance> &rows, uint32_t hops)
{
    return fmax(rows.tolerance, rows.epsilon * (double)hops);
}

/* One way along an edge, by the places of its ends in the arrays of the batch. */
template <typename distance, typename weight>
static __device__ __forceinline__ void
certificate_search_step(const struct certificate_rows<distance> &rows,
                        const struct certificate_reach &reach, uint32_t level, uint64_t from,
                        uint64_t to, weight length)
{
    typedef typename certificate_sum<distance, weight>::type sum;
    if (reach.hops[from] != level - 1 || reach.hops[to] < level) {
        return;
    }
    const distance near = __ldg(rows.distances + from);
    const distance there = __ldg(rows.distances + to);
    if (certificate_is_far(near) || certificate_is_far(there)) {
        return;
    }
    const double magnitude =
        __longlong_as_double((long long)reach.magnitude[from]) + fabs((double)length);
    const sum gap = (sum)near + (sum)length - (sum)there;
    const sum slack =
        certificate_slack(gap, certificate_relative(rows, level), magnitude + rows.least);
    if (gap <= slack && -gap <= slack) {
        reach.hops[to] = level;
        atomicMin(&reach.magnitude[to], (unsigned long long)__double_as_longlong(magnitude));
        rows.tally->changed = 1;
    }
}

template <typename distance, typename weight>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_search_kernel(struct certificate_rows<distance> rows,
                              struct certificate_reach reach,
                              struct certificate_edges<weight> edges, uint32_t level)
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
        const uint64_t line = row * rows.pitch;
        certificate_search_step(rows, reach, level, line + from, line + to, length);
        if (!edges.directed) {
            certificate_search_step(rows, reach, level, line + to, line + from, length);
        }
    }
}

template <typename distance>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_judge_entries_kernel(struct certificate_rows<distance> rows,
                                     struct certificate_reach reach)
{
    const uint32_t row = blockIdx.y;
    const uint64_t column = (uint64_t)blockIdx.x * CERTIFICATE_THREADS + threadIdx.x;
    if (column >= rows.vertex_count) {
        return;
    }
    const distance value = rows.distances[row * rows.pitch + column];
    if (column == rows.sources[row]) {
        if (!(value == 0)) {
            certificate_object(rows.tally, row, VIOLATION_DIAGONAL, false, column);
        }
    } else if (!certificate_is_far(value) &&
               reach.hops[row * rows.pitch + column] == CERTIFICATE_UNREACHED) {
        certificate_object(rows.tally, row, VIOLATION_PATH, false, column);
    }
}

/* Whether an edge from `from` is a way to `to` shorter than the matrix has. Written so that a NaN
 * is one too. */
template <typename distance, typename weight>
static __device__ __forceinline__ bool
certificate_is_shorter(const struct certificate_rows<distance> &rows,
                       const struct certificate_reach &reach, uint64_t from, uint64_t to,
                       weight length)
{
    typedef typename certificate_sum<distance, weight>::type sum;
    const distance near = __ldg(rows.distances + from);
    const distance there = __ldg(rows.distances + to);
    const uint32_t hops = reach.hops[from];
    if (certificate_is_far(near) || hops == CERTIFICATE_UNREACHED) {
        return false;
    }
    const double magnitude =
        __longlong_as_double((long long)reach.magnitude[from]) + fabs((double)length);
    const sum along = (sum)near + (sum)length;
    const sum slack =
        certificate_slack(along, certificate_relative(rows, hops + 1), magnitude + rows.least);
    return certificate_is_far(there) || !((sum)there <= along + slack);
}

template <typename distance, typename weight>
__global__ void __launch_bounds__(CERTIFICATE_THREADS)
    certificate_judge_edges_kernel(struct certificate_rows<distance> rows,
                                   struct certificate_reach reach,
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
        const uint64_t line = row * rows.pitch;
        if (certificate_is_shorter(rows, reach, line + from, line + to, length)) {
            certificate_object(rows.tally, row, VIOLATION_EDGE, false, edges.first + place);
        }
        if (!edges.directed &&
            certificate_is_shorter(rows, reach, line + to, line + from, length)) {
            certificate_object(rows.tally, row, VIOLATION_EDGE, true, edges.first + place);
        }
    }
}

template <typename distance>
MUST_CHECK static enum status
certificate_begin_launch(const struct certificate_rows<distance> &rows,
                         const struct certificate_reach &reach, cudaStream_t stream)
{
    const dim3 grid(certificate_blocks(rows.pitch), rows.row_count);
    certificate_begin_kernel<distance><<<grid, CERTIFICATE_THREADS, 0, stream>>>(rows, reach);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance, typename weight>
MUST_CHECK static enum status certificate_search_launch(
    const struct certificate_rows<distance> &rows, const struct certificate_reach &reach,
    const struct certificate_edges<weight> &edges, uint32_t level, cudaStream_t stream)
{
    certificate_search_kernel<distance, weight>
        <<<certificate_grid(rows, edges), CERTIFICATE_THREADS, 0, stream>>>(rows, reach, edges,
                                                                            level);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance>
MUST_CHECK static enum status
certificate_judge_entries_launch(const struct certificate_rows<distance> &rows,
                                 const struct certificate_reach &reach, cudaStream_t stream)
{
    const dim3 grid(certificate_blocks(rows.vertex_count), rows.row_count);
    certificate_judge_entries_kernel<distance>
        <<<grid, CERTIFICATE_THREADS, 0, stream>>>(rows, reach);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

template <typename distance, typename weight>
MUST_CHECK static enum status
certificate_judge_edges_launch(const struct certificate_rows<distance> &rows,
                               const struct certificate_reach &reach,
                               const struct certificate_edges<weight> &edges, cudaStream_t stream)
{
    certificate_judge_edges_kernel<distance, weight>
        <<<certificate_grid(rows, edges), CERTIFICATE_THREADS, 0, stream>>>(rows, reach, edges);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}
