/* Operations of one block of 256 threads on tiles of 64x64 elements, for kernel_small.cuh: copies,
 * products, and closing a diagonal tile. */
#pragma once

#include "gpu/semiring.cuh"

#define SMALL_TILE 64
#define SMALL_THREADS 256
/* Elements per row of the left operand in shared memory: four more than in a tile, so that rows
 * that a warp reads at the same time begin in different banks. */
#define SMALL_LEFT_STRIDE (SMALL_TILE + QUAD)

/* Shorter edge of a strip, which is half of a panel tile. */
#define SMALL_STRIP (SMALL_TILE / 2)

static_assert(SMALL_THREADS * QUAD * QUAD == SMALL_TILE * SMALL_TILE, "4x4 elements per thread");
static_assert(GPU_TILE % SMALL_TILE == 0, "the padded matrix has whole tiles");

struct small_step {
    uint32_t tile_count; /* number of tiles of SMALL_TILE along one edge of the matrix */
    struct tile_control *control;
    volatile uint32_t *negative; /* mapped host memory; 1 reports a negative cycle */
};

/* Returns whether blocks compute interior tiles in pairs. Doubles would need too many registers. */
template <typename semiring> static __host__ __device__ constexpr bool small_pairs(void)
{
    return sizeof(typename semiring::element) == 4;
}

template <typename element> struct small_shared {
    __align__(16) element left[(sizeof(element) == 4 ? 2 : 1) * SMALL_TILE * SMALL_LEFT_STRIDE];
    __align__(16) element right[SMALL_TILE * SMALL_TILE];
    __align__(16) element old[(sizeof(element) == 4 ? 2 : 0) * SMALL_TILE * SMALL_TILE + 4];
    /* Double buffers: one for the current pivot, one for the next. */
    __align__(16) element pivot_row[2][SMALL_TILE];
    __align__(16) element pivot_column[2][SMALL_TILE];
};

/* COUNT elements, which one access reads or writes; four doubles take two accesses. */
template <typename element, uint32_t COUNT>
struct __align__(COUNT * sizeof(element) < 16 ? COUNT * sizeof(element) : 16) small_line
{
    element at[COUNT];
};

template <uint32_t COUNT, typename element>
static __device__ __forceinline__ struct small_line<element, COUNT> small_get(const element *from) {
    return *reinterpret_cast<const struct small_line<element, COUNT> *>(from);
}

template <uint32_t COUNT, typename element>
static __device__ __forceinline__ void small_put(element *to,
                                                 const struct small_line<element, COUNT> &line)
{
    *reinterpret_cast<struct small_line<element, COUNT> *>(to) = line;
}

/* A thread's part of a tile or a strip. Its rows are GAP rows apart. With a gap of 4, the threads
 * of a warp read consecutive rows, which avoids bank conflicts; small_close needs a gap of 1. */
template <typename element, uint32_t ROWS, uint32_t COLUMNS, uint32_t GAP> struct small_part {
    struct small_line<element, COLUMNS> rows[ROWS];
};

/* A tile, or a part of a tile, in global memory. */
template <typename element> struct small_view {
    element *elements;
    uint64_t stride; /* number of elements from one row to the next */
};

template <typename element>
static __device__ __forceinline__ struct small_view<element>
small_tile(struct tile_matrix<element> matrix, uint32_t row_tile, uint32_t column_tile) {
    return {matrix.elements + (uint64_t)row_tile * SMALL_TILE * matrix.stride +
                (uint64_t)column_tile * SMALL_TILE,
            matrix.stride};
}

/* Returns the view that begins `row` rows below and `column` elements to the right of this view. */
template <typename element>
static __device__ __forceinline__ struct small_view<element>
small_inside(struct small_view<element> view, uint32_t row, uint32_t column) {
    return {view.elements + row * view.stride + column, view.stride};
}

/* Starts the copy of ROWS x COLUMNS elements into rows of STRIDE elements of shared memory. */
template <uint32_t ROWS, uint32_t COLUMNS, uint32_t STRIDE, typename element>
static __device__ __forceinline__ void small_copy(element *shared,
                                                  struct small_view<element> global)
{
    constexpr uint32_t per_copy = 16 / sizeof(element);
    constexpr uint32_t across = COLUMNS / per_copy;
#pragma unroll
    for (uint32_t at = threadIdx.x; at < ROWS * across; at += SMALL_THREADS) {
        const uint32_t row = at / across;
        const uint32_t column = at % across * per_copy;
        tile_copy_16(shared + row * STRIDE + column,
                     global.elements + row * global.stride + column);
    }
}

template <uint32_t ROWS, uint32_t COLUMNS, uint32_t GAP, typename element>
static __device__ __forceinline__ void
small_load(struct small_part<element, ROWS, COLUMNS, GAP> &part, struct small_view<element> home)
{
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
        part.rows[i] = small_get<COLUMNS>(home.elements + i * GAP * home.stride);
    }
}

template <uint32_t ROWS, uint32_t COLUMNS, uint32_t GAP, typename element>
static __device__ __forceinline__ void
small_store(const struct small_part<element, ROWS, COLUMNS, GAP> &part,
            struct small_view<element> home)
{
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
        small_put(home.elements + i * GAP * home.stride, part.rows[i]);
    }
}

/* Computes part = min(part, left x right) over pivots [FIRST, LAST); operands in shared memory. */
template <typename semiring, uint32_t FIRST, uint32_t LAST, uint32_t ROWS, uint32_t COLUMNS,
          uint32_t GAP>
static __device__ __forceinline__ void
small_product(struct small_part<typename semiring::element, ROWS, COLUMNS, GAP> &part,
              struct tile_place place,
              const struct small_shared<typename semiring::element> *shared)
{
    typedef typename semiring::element element;
    const element *const left = shared->left + place.row * SMALL_LEFT_STRIDE;
    const element *const right = shared->right + place.column;
#pragma unroll 2
    for (uint32_t pivot = FIRST; pivot < LAST; pivot += QUAD) {
        struct small_line<element, QUAD> to[ROWS];
#pragma unroll
        for (uint32_t i = 0; i < ROWS; i++) {
            to[i] = small_get<QUAD>(left + i * GAP * SMALL_LEFT_STRIDE + pivot);
        }
#pragma unroll
        for (uint32_t k = 0; k < QUAD; k++) {
            const struct small_line<element, COLUMNS> from =
                small_get<COLUMNS>(right + (pivot + k) * SMALL_TILE);
#pragma unroll
            for (uint32_t i = 0; i < ROWS; i++) {
#pragma unroll
                for (uint32_t j = 0; j < COLUMNS; j++) {
                    part.rows[i].at[j] =
                        semiring::relax(part.rows[i].at[j], to[i].at[k], from.at[j]);
                }
            }
        }
    }
}

/* Computes part = min(home, left x right) for HIGH x WIDE elements, from HIGH rows of left and WIDE
 * columns of right. The result stays in registers. */
template <typename semiring, uint32_t HIGH, uint32_t WIDE, uint32_t ROWS, uint32_t COLUMNS,
          uint32_t GAP>
static __device__ __forceinline__ void
small_relax(struct small_part<typename semiring::element, ROWS, COLUMNS, GAP> &part,
            struct tile_place place, struct small_view<typename semiring::element> left,
            struct small_view<typename semiring::element> right,
            struct small_view<typename semiring::element> home,
            struct small_shared<typename semiring::element> *shared)
{
    static_assert(HIGH * WIDE == SMALL_THREADS * ROWS * COLUMNS, "all of it");
    small_copy<HIGH, SMALL_TILE, SMALL_LEFT_STRIDE>(shared->left, left);
    small_copy<SMALL_TILE, WIDE, SMALL_TILE>(shared->right, right);
    __pipeline_commit();
    small_load(part, small_inside(home, place.row, place.column));
    __pipeline_wait_prior(0);
    __syncthreads();
    small_product<semiring, 0, SMALL_TILE>(part, place, shared);
    /* After this barrier the next work item may overwrite the operands. */
    __syncthreads();
}

/* Returns the first row and column of a thread that has ROWS rows, four rows apart. */
template <uint32_t ROWS> static __device__ __forceinline__ tile_place small_place(void)
{
    const uint32_t warp = threadIdx.x / WARP_THREADS;
    const uint32_t lane = threadIdx.x % WARP_THREADS;
    return {warp / 2 * (ROWS * 4) + lane / 8, warp % 2 * 32 + lane % 8 * QUAD};
}

/* Two tiles of one tile column, and their operands. */
template <typename element> struct small_pair {
    struct small_view<element> left[2];
    struct small_view<element> right;
    struct small_view<element> home[2];
};

/* Starts the copy of half of a pair's operands, for pivots [FIRST, FIRST + SMALL_STRIP). */
template <uint32_t FIRST, typename element>
static __device__ __forceinline__ void small_copy_half(const struct small_pair<element> &pair,
                                                       struct small_shared<element> *shared)
{
    small_copy<SMALL_TILE, SMALL_STRIP, SMALL_LEFT_STRIDE>(shared->left + FIRST,
                                                           small_inside(pair.left[0], 0, FIRST));
    small_copy<SMALL_TILE, SMALL_STRIP, SMALL_LEFT_STRIDE>(
        shared->left + SMALL_TILE * SMALL_LEFT_STRIDE + FIRST,
        small_inside(pair.left[1], 0, FIRST));
    small_copy<SMALL_STRIP, SMALL_TILE, SMALL_TILE>(shared->right + FIRST * SMALL_TILE,
                                                    small_inside(pair.right, FIRST, 0));
    __pipeline_commit();
}

/* Starts the copy of the pair's own tiles, which the computation needs after the operands. */
template <typename element>
static __device__ __forceinline__ void small_copy_homes(const struct small_pair<element> &pair,
                                                        struct small_shared<element> *shared)
{
    small_copy<SMALL_TILE, SMALL_TILE, SMALL_TILE>(shared->old, pair.home[0]);
    small_copy<SMALL_TILE, SMALL_TILE, SMALL_TILE>(shared->old + SMALL_TILE * SMALL_TILE,
                                                   pair.home[1]);
    __pipeline_commit();
}

/* Computes two interior tiles at once with 8x4 elements per thread, which needs fewer loads from
 * shared memory. The first four warps compute the first tile. The block waits only for the first
 * half of the operands; the second half and the tiles themselves arrive during the computation. */
template <typename semiring>
static __device__ __forceinline__ void
small_interior_pair(const struct small_pair<typename semiring::element> &pair,
                    struct small_shared<typename semiring::element> *shared)
{
    typedef typename semiring::element element;
    constexpr uint32_t rows = 2 * QUAD;
    const struct tile_place place = small_place<rows>();
    small_copy_half<0>(pair, shared);
    small_copy_half<SMALL_STRIP>(pair, shared);
    small_copy_homes(pair, shared);
    struct small_part<element, rows, QUAD, 4> part;
#pragma unroll
    for (uint32_t i = 0; i < rows; i++) {
#pragma unroll
        for (uint32_t j = 0; j < QUAD; j++) {
            part.rows[i].at[j] = semiring_unreachable<element>();
        }
    }
    __pipeline_wait_prior(2);
    __syncthreads();
    small_product<semiring, 0, SMALL_STRIP>(part, place, shared);
    __pipeline_wait_prior(0);
    __syncthreads();
    small_product<semiring, SMALL_STRIP, SMALL_TILE>(part, place, shared);
#pragma unroll
    for (uint32_t i = 0; i < rows; i++) {
        const struct small_line<element, QUAD> old =
            small_get<QUAD>(shared->old + (place.row + i * 4) * SMALL_TILE + place.column);
#pragma unroll
        for (uint32_t j = 0; j < QUAD; j++) {
            part.rows[i].at[j] = min(part.rows[i].at[j], old.at[j]);
        }
    }
    small_store(part, small_inside(pair.home[place.row / SMALL_TILE], place.row % SMALL_TILE,
                                   place.column));
    /* After this barrier the next work item may overwrite shared memory. */
    __syncthreads();
}

/* Writes a pivot's row and column to shared memory, from the threads that hold parts of them. LINE
 * is the pivot's index among a thread's four rows or columns. */
template <uint32_t LINE, typename element>
static __device__ __forceinline__ void
small_publish(struct small_part<element, QUAD, QUAD, 1> &part, struct tile_place place,
              uint32_t quad, struct small_shared<element> *shared)
{
    const bool holds_row = place.row == quad;
    const bool holds_column = place.column == quad;
    if (holds_row) {
        small_put(shared->pivot_row[LINE % 2] + place.column, part.rows[LINE]);
    }
    if (holds_column) {
        struct small_line<element, QUAD> column;
#pragma unroll
        for (uint32_t i = 0; i < QUAD; i++) {
            column.at[i] = part.rows[i].at[LINE];
        }
        small_put(shared->pivot_column[LINE % 2] + place.row, column);
    }
}

/* Relaxes the thread's elements of a tile over one of the tile's own pivots. A negative cycle only
 * sets *negative, which is tested once, after all pivots, because a branch on a value that was just
 * loaded would take a quarter of the time. */
template <typename semiring, uint32_t LINE>
static __device__ __forceinline__ void
small_step_over(struct small_part<typename semiring::element, QUAD, QUAD, 1> &part,
                struct tile_place place, uint32_t quad, bool *negative,
                struct small_shared<typename semiring::element> *shared)
{
    typedef typename semiring::element element;
    const element *const row = shared->pivot_row[LINE % 2];
    const struct small_line<element, QUAD> to =
        small_get<QUAD>(shared->pivot_column[LINE % 2] + place.row);
    const struct small_line<element, QUAD> from = small_get<QUAD>(row + place.column);
    *negative |= row[quad + LINE] < 0;
#pragma unroll
    for (uint32_t i = 0; i < QUAD; i++) {
#pragma unroll
        for (uint32_t j = 0; j < QUAD; j++) {
            part.rows[i].at[j] = semiring::relax(part.rows[i].at[j], to.at[i], from.at[j]);
        }
    }
    const uint32_t next_quad = LINE + 1 < QUAD ? quad : quad + QUAD;
    if (next_quad < SMALL_TILE) {
        small_publish<(LINE + 1) % QUAD>(part, place, next_quad, shared);
    }
    __syncthreads();
}

/* Closes a tile: Floyd-Warshall over the tile's own vertices. Returns false to all threads if there
 * is a negative cycle; the elements of the tile are then meaningless. */
template <typename semiring>
static __device__ __forceinline__ bool
small_close(struct small_part<typename semiring::element, QUAD, QUAD, 1> &part,
            struct small_shared<typename semiring::element> *shared)
{
    const struct tile_place place = tile_place_of_thread<SMALL_TILE>();
    bool negative = false;
    small_publish<0>(part, place, 0, shared);
    __syncthreads();
    for (uint32_t quad = 0; quad < SMALL_TILE; quad += QUAD) {
        small_step_over<semiring, 0>(part, place, quad, &negative, shared);
        small_step_over<semiring, 1>(part, place, quad, &negative, shared);
        small_step_over<semiring, 2>(part, place, quad, &negative, shared);
        small_step_over<semiring, 3>(part, place, quad, &negative, shared);
    }
    return !negative;
}

/* Reports a negative cycle to the host and stops all blocks. */
static __device__ __forceinline__ void small_stop(const struct small_step &step)
{
    if (threadIdx.x == 0) {
        *step.negative = 1;
        *(volatile uint32_t *)&step.control->stop = 1;
    }
}
