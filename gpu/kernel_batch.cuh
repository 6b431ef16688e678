/* Floyd-Warshall on many small graphs at once, one block each.
 *
 * A block builds its matrix in shared memory from its edges, takes it into registers, and closes it
 * pivot by pivot: a thread holds 8 rows x 4 or 8 columns, a warp 32 x 32 or 32 x 64. The pivot row
 * and column pass through shared memory, where the matrix was before; while pivot k is read from
 * one half its successor is written to the other, so that one barrier per pivot is enough. Several
 * blocks share a multiprocessor: where one waits at a barrier, loads or stores, another computes.
 *
 * SIDE is the class of the graph, its vertex count rounded up to 32, 64, 96 or 128, so that a small
 * one does not pay for 128. Threads, and blocks meant to share a multiprocessor:
 *
 *   SIDE         32      64       96      128
 *   4 bytes   32 x 21  64 x 8   288 x 2  256 x 2
 *   8 bytes   32 x 16  128 x 4  288 x 1  512 x 1
 *
 * Shared memory: SIDE * SIDE elements. Only the graph's own pivots are used, rounded up to 8; what
 * lies beyond is padding that reaches nothing but itself. The order of the pivots is the plain one,
 * so floats come out to the bit as three nested loops make them.
 *
 * A diagonal element below 0 when its turn as pivot comes is a negative cycle; all pivots before
 * had none, so up to there nothing overflows. The block goes on and reports it at its end: what it
 * then computes is never read. */
#pragma once

#include "gpu/kernel_finish.cuh"
#include "gpu/semiring.cuh"
#include "gpu/try.cuh"

#define BATCH_ROWS 8
/* Vertices a side that a warp covers with one quad per thread and row: 4 x 8 threads. */
#define BATCH_SPAN 32
#define BATCH_SIDE_MAX 128
/* A vertex is one byte of an edge. */
#define BATCH_SOURCE_SHIFT 8
#define BATCH_TARGET_MASK 255
/* Beside the elements: operands, addresses. */
#define BATCH_OTHER_REGISTERS 64
#define BATCH_REGISTERS_PER_MULTIPROCESSOR 65536
#define BATCH_BLOCKS_MAX 32

static_assert(GPU_BATCH_VERTICES == BATCH_SIDE_MAX, "the classes end where the limit is");
static_assert(BATCH_SIDE_MAX <= BATCH_TARGET_MASK + 1, "a vertex fits its byte");

/* One graph of a chunk. */
struct batch_graph {
    uint32_t first_edge; /* in the chunk's edges */
    uint32_t edge_count;
    uint32_t first_result; /* element index in the chunk's results, 16-byte aligned */
    uint16_t vertex_count;
    bool directed;
    bool clamp;
};

/* On the device: what the blocks of one launch read and write. */
template <typename element> struct batch_chunk {
    const struct batch_graph *graphs;
    const element *weights; /* per edge */
    const uint16_t *ends;   /* per edge: source << BATCH_SOURCE_SHIFT | target */
    uint32_t *verdicts;     /* per graph: 1 = negative cycle, else 0 */
    element *results;       /* n x n per graph, packed */
};

template <typename element, uint32_t SIDE> struct batch_shape {
    static constexpr uint32_t quads = sizeof(element) == 4 && SIDE % (2 * BATCH_SPAN) == 0 ? 2 : 1;
    static constexpr uint32_t columns = quads * QUAD; /* per thread */
    static constexpr uint32_t warps_across = SIDE / (BATCH_SPAN * quads);
    static constexpr uint32_t threads = SIDE / BATCH_SPAN * warps_across * WARP_THREADS;
    static constexpr uint32_t registers =
        BATCH_ROWS * columns * (uint32_t)sizeof(element) / 4 + BATCH_OTHER_REGISTERS;
    static constexpr uint32_t fitting = BATCH_REGISTERS_PER_MULTIPROCESSOR / (threads * registers);
    static constexpr uint32_t blocks = fitting < BATCH_BLOCKS_MAX ? fitting : BATCH_BLOCKS_MAX;
    static constexpr uint32_t shared_bytes = SIDE * SIDE * (uint32_t)sizeof(element);
    static_assert(threads * BATCH_ROWS * columns == SIDE * SIDE, "every element has its thread");
};

/* The pivot in hand: its row, its column. */
template <typename element, uint32_t SIDE> struct batch_pivot {
    element row[SIDE];
    element column[SIDE];
};

/* A thread's elements: rows row..row+7, columns column..column+3 and, with two quads, the same
 * BATCH_SPAN further on. */
struct batch_place {
    uint32_t row;
    uint32_t column;
};

template <typename element> struct alignas(16) batch_quad {
    element at[QUAD];
};

template <typename element>
static __device__ __forceinline__ struct batch_quad<element> *batch_quad_at(element *elements) {
    return reinterpret_cast<struct batch_quad<element> *>(elements);
}

template <typename element>
static __device__ __forceinline__ const struct batch_quad<element> *
batch_quad_at(const element *elements) {
    return reinterpret_cast<const struct batch_quad<element> *>(elements);
}

/* The matrix before the first pivot, in shared memory, complete after the barrier that follows. No
 * two edges write the same element: there are no parallel ones, and an undirected edge is given
 * once. */
template <typename semiring, uint32_t SIDE>
static __device__ __forceinline__ void
batch_fill(const struct batch_chunk<typename semiring::element> &chunk,
           const struct batch_graph &graph, typename semiring::element *matrix)
{
    typedef typename semiring::element element;
    constexpr uint32_t threads = batch_shape<element, SIDE>::threads;
    const element far = semiring::unreachable();
#pragma unroll 1
    for (uint32_t index = threadIdx.x * QUAD; index < SIDE * SIDE; index += threads * QUAD) {
        struct batch_quad<element> quad;
#pragma unroll
        for (uint32_t i = 0; i < QUAD; ++i) {
            quad.at[i] = (index + i) % (SIDE + 1) == 0 ? 0 : far;
        }
        *batch_quad_at(matrix + index) = quad;
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t edge = threadIdx.x; edge < graph.edge_count; edge += threads) {
        const uint32_t ends = chunk.ends[graph.first_edge + edge];
        const element weight = chunk.weights[graph.first_edge + edge];
        const uint32_t source = ends >> BATCH_SOURCE_SHIFT;
        const uint32_t target = ends & BATCH_TARGET_MASK;
        matrix[source * SIDE + target] = weight;
        if (!graph.directed) {
            matrix[target * SIDE + source] = weight;
        }
    }
}

template <typename element, uint32_t SIDE>
static __device__ __forceinline__ struct batch_place batch_place_of_thread(void)
{
    using shape = batch_shape<element, SIDE>;
    const uint32_t warp = threadIdx.x / WARP_THREADS;
    const uint32_t lane = threadIdx.x % WARP_THREADS;
    struct batch_place place;
    place.row = warp / shape::warps_across * BATCH_SPAN + lane / 8 * BATCH_ROWS;
    place.column = warp % shape::warps_across * BATCH_SPAN * shape::quads + lane % 8 * QUAD;
    return place;
}

/* Publishes the row and the column of pivot base + line from the threads that hold parts of them.
 * base is a multiple of BATCH_ROWS; line must be known to the compiler, as it is an index into
 * registers. True when the pivot is on a negative cycle, to the thread that holds its diagonal. */
template <uint32_t COLUMNS, uint32_t SIDE, typename element>
static __device__ __forceinline__ bool
batch_publish(element (&tile)[BATCH_ROWS][COLUMNS], struct batch_place place, uint32_t base,
              uint32_t line, bool clamp, struct batch_pivot<element, SIDE> *pivot)
{
    const bool holds_row = place.row == base;
    bool negative = false;
#pragma unroll
    for (uint32_t quad = 0; quad < COLUMNS / QUAD; ++quad) {
        const uint32_t column = quad * QUAD + line % QUAD;
        if (place.column + quad * BATCH_SPAN != base + line / QUAD * QUAD) {
            continue;
        }
        if (holds_row && tile[line][column] < 0) {
            negative = !clamp;
            tile[line][column] = clamp ? 0 : tile[line][column];
        }
#pragma unroll
        for (uint32_t row = 0; row < BATCH_ROWS; row += QUAD) {
            *batch_quad_at(pivot->column + place.row +
                           row) = {{tile[row][column], tile[row + 1][column], tile[row + 2][column],
                                    tile[row + 3][column]}};
        }
    }
    if (holds_row) {
#pragma unroll
        for (uint32_t quad = 0; quad < COLUMNS / QUAD; ++quad) {
            const element *const from = &tile[line][quad * QUAD];
            *batch_quad_at(pivot->row + place.column +
                           quad * BATCH_SPAN) = {{from[0], from[1], from[2], from[3]}};
        }
    }
    return negative;
}

template <typename semiring, uint32_t COLUMNS, uint32_t SIDE, typename element>
static __device__ __forceinline__ void
batch_relax_tile(element (&tile)[BATCH_ROWS][COLUMNS], struct batch_place place,
                 const struct batch_pivot<element, SIDE> *pivot)
{
    struct batch_quad<element> to[BATCH_ROWS / QUAD];
    struct batch_quad<element> from[COLUMNS / QUAD];
#pragma unroll
    for (uint32_t quad = 0; quad < BATCH_ROWS / QUAD; ++quad) {
        to[quad] = *batch_quad_at(pivot->column + place.row + quad * QUAD);
    }
#pragma unroll
    for (uint32_t quad = 0; quad < COLUMNS / QUAD; ++quad) {
        from[quad] = *batch_quad_at(pivot->row + place.column + quad * BATCH_SPAN);
    }
#pragma unroll
    for (uint32_t i = 0; i < BATCH_ROWS; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < COLUMNS; ++j) {
            tile[i][j] =
                semiring::relax(tile[i][j], to[i / QUAD].at[i % QUAD], from[j / QUAD].at[j % QUAD]);
        }
    }
}

/* All pivots. pivots: two of them, in shared memory. */
template <typename semiring, uint32_t COLUMNS, uint32_t SIDE, typename element>
static __device__ __forceinline__ bool
batch_close(element (&tile)[BATCH_ROWS][COLUMNS], struct batch_place place,
            const struct batch_graph &graph, struct batch_pivot<element, SIDE> *pivots)
{
    bool negative = batch_publish(tile, place, 0, 0, graph.clamp, &pivots[0]);
    __syncthreads();
#pragma unroll 1
    for (uint32_t base = 0; base < graph.vertex_count; base += BATCH_ROWS) {
#pragma unroll
        for (uint32_t line = 0; line < BATCH_ROWS; ++line) {
            const uint32_t next = line + 1;
            batch_relax_tile<semiring>(tile, place, &pivots[line % 2]);
            if (base + next < SIDE) {
                negative |= batch_publish(tile, place, base + next / BATCH_ROWS * BATCH_ROWS,
                                          next % BATCH_ROWS, graph.clamp, &pivots[next % 2]);
            }
            __syncthreads();
        }
    }
    return negative;
}

/* The last look at a thread's elements: canonical, and the diagonal, which float rounding may have
 * pushed below 0 after its turn as pivot. */
template <uint32_t COLUMNS, typename element>
static __device__ __forceinline__ bool batch_finish(element (&tile)[BATCH_ROWS][COLUMNS],
                                                    struct batch_place place, bool clamp)
{
    bool negative = false;
#pragma unroll
    for (uint32_t i = 0; i < BATCH_ROWS; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < COLUMNS; ++j) {
            const uint32_t column = place.column + j / QUAD * BATCH_SPAN + j % QUAD;
            element distance;
            finish_convert(tile[i][j], &distance, nullptr);
            if (place.row + i == column && distance < 0) {
                negative = !clamp;
                distance = clamp ? 0 : distance;
            }
            tile[i][j] = distance;
        }
    }
    return negative;
}

template <uint32_t COLUMNS, typename element>
static __device__ __forceinline__ void batch_store(const element (&tile)[BATCH_ROWS][COLUMNS],
                                                   struct batch_place place, uint32_t vertex_count,
                                                   element *result)
{
    const bool quads_aligned = vertex_count % QUAD == 0;
#pragma unroll
    for (uint32_t i = 0; i < BATCH_ROWS; ++i) {
        if (place.row + i >= vertex_count) {
            break;
        }
        element *const row = result + (place.row + i) * vertex_count;
#pragma unroll
        for (uint32_t quad = 0; quad < COLUMNS / QUAD; ++quad) {
            const uint32_t column = place.column + quad * BATCH_SPAN;
            const element *const from = &tile[i][quad * QUAD];
            if (quads_aligned && column < vertex_count) {
                *batch_quad_at(row + column) = {{from[0], from[1], from[2], from[3]}};
                continue;
            }
#pragma unroll
            for (uint32_t j = 0; j < QUAD; ++j) {
                if (column + j < vertex_count) {
                    row[column + j] = from[j];
                }
            }
        }
    }
}

template <typename semiring, uint32_t SIDE>
__global__ void __launch_bounds__(batch_shape<typename semiring::element, SIDE>::threads,
                                  batch_shape<typename semiring::element, SIDE>::blocks)
    batch_kernel(struct batch_chunk<typename semiring::element> chunk, uint32_t first_graph)
{
    typedef typename semiring::element element;
    using shape = batch_shape<element, SIDE>;
    extern __shared__ __align__(16) unsigned char batch_memory[];
    element *const matrix = reinterpret_cast<element *>(batch_memory);
    const uint32_t index = first_graph + blockIdx.x;
    const struct batch_graph graph = chunk.graphs[index];
    const struct batch_place place = batch_place_of_thread<element, SIDE>();
    element tile[BATCH_ROWS][shape::columns];
    batch_fill<semiring, SIDE>(chunk, graph, matrix);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < BATCH_ROWS; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < shape::columns; j += QUAD) {
            const struct batch_quad<element> quad = *batch_quad_at(
                matrix + (place.row + i) * SIDE + place.column + j / QUAD * BATCH_SPAN);
#pragma unroll
            for (uint32_t k = 0; k < QUAD; ++k) {
                tile[i][j + k] = quad.at[k];
            }
        }
    }
    __syncthreads();
    bool negative = batch_close<semiring, shape::columns, SIDE>(
        tile, place, graph, reinterpret_cast<struct batch_pivot<element, SIDE> *>(batch_memory));
    negative |= batch_finish(tile, place, graph.clamp);
    batch_store(tile, place, graph.vertex_count, chunk.results + graph.first_result);
    negative = __syncthreads_or(negative) != 0;
    if (threadIdx.x == 0) {
        chunk.verdicts[index] = negative ? 1 : 0;
    }
}

/* Graphs [first_graph, first_graph + graph_count) of the chunk, all of the class SIDE. */
template <typename semiring, uint32_t SIDE>
MUST_CHECK static enum status batch_launch(struct batch_chunk<typename semiring::element> chunk,
                                           uint32_t first_graph, uint32_t graph_count,
                                           cudaStream_t stream)
{
    using shape = batch_shape<typename semiring::element, SIDE>;
    if (graph_count == 0) {
        return STATUS_OK;
    }
    GPU_TRY(cudaFuncSetAttribute(batch_kernel<semiring, SIDE>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, shape::shared_bytes));
    batch_kernel<semiring, SIDE>
        <<<graph_count, shape::threads, shape::shared_bytes, stream>>>(chunk, first_graph);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}
