/* Phase 3 of the dense plan: the tiles outside the panels, C = min(C, A x B) over the pivots of one
 * or two pivot tiles, with A and B from the operands (semiring.cuh). Nearly all of the n^3
 * relaxations happen here, so this kernel decides the speed of the solver.
 *
 * One block of 256 threads computes 128 rows x 128 words (two column tiles of 16-bit elements).
 * Each thread has 8x8 words in registers: two quads of rows by two quads of words, 64 apart. A and
 * B pass through shared memory in slabs (slab_ring.cuh), 96 KiB per block. Two blocks run on a
 * multiprocessor, with at most 128 registers per thread; for doubles, one block. Per pivot, a
 * thread makes 4 loads of 16 bytes from shared memory for 64 words (8 loads for doubles).
 *
 * Relaxing over two pivot tiles p0 and p1 in one launch halves the memory traffic of C. The result
 * is the same as with two launches, because the operands of p1 were made after the rows and columns
 * of p1 had been relaxed over p0. A tile in the row or column of p0 is relaxed over p1 only. A tile
 * in the row or column of the last pivot tile is final and is skipped.
 *
 * A launch computes one of two parts, which share no tile. NEXT is the rows and columns of the next
 * round's pivot tiles, which are needed first. REST is all other tiles; a launch covers a range of
 * its rows. If the matrix is symmetric, only tiles on and below the diagonal are computed (and one
 * above it, where 16-bit tiles are computed in pairs); REST then folds rows i and last - i of the
 * triangle into one row.
 *
 * The matrix in memory has the tile rows of one member of a group of devices (tile_rows.h).
 * own_row, first and row_count count these rows; all other indexes refer to the whole matrix. */
#pragma once

#include "gpu/slab_ring.cuh"

#define INTERIOR_EDGE (2 * QUAD)

static_assert(RING_THREADS * INTERIOR_EDGE * INTERIOR_EDGE == GPU_TILE * 2 * OPERAND_WORDS,
              "8x8 words per thread");

enum interior_part { INTERIOR_NEXT, INTERIOR_REST };

template <typename word> struct interior_step {
    struct operand<word> operands[OPERAND_PIVOTS];
    uint32_t pivots[OPERAND_PIVOTS];
    uint32_t slabs[OPERAND_PIVOTS]; /* number of slabs of each pivot tile */
    uint32_t pivot_count;
    uint32_t next[OPERAND_PIVOTS]; /* pivot tiles of the next round */
    uint32_t next_count;
    uint32_t tile_count; /* number of tiles along the edge of the matrix */
    uint32_t first;      /* for REST: first row, or folded row, of the range */
    bool symmetric;
    int32_t one; /* always 1; see semiring.cuh */
    const struct tile_control *control;
    struct tile_rows rows;
    uint32_t row_count; /* number of tile rows on this device */
    bool owns_next;     /* whether this device owns the rows of the next pivots */
};

/* The work of one block: a row tile and two column tiles. The two columns are the same tile, unless
 * elements have 16 bits and both tiles must be computed. */
struct interior_tile {
    uint32_t row;
    uint32_t own_row; /* row's index in the device's memory */
    uint32_t columns[2];
    uint32_t left; /* `left` and `right`: operand slots of the row and of the columns */
    uint32_t right[2];
    uint32_t pivot; /* first of the step's pivot tiles over which this tile is relaxed */
    bool ordered;   /* whether copies of slabs have been issued */
};

/* Returns the number of units. A unit is a column tile, or two column tiles of 16-bit elements. */
template <typename semiring>
static __host__ __device__ __forceinline__ uint32_t interior_units(uint32_t column_count)
{
    return (column_count + semiring_packing<semiring>() - 1) / semiring_packing<semiring>();
}

template <typename word>
static __device__ __forceinline__ bool interior_is_next(const struct interior_step<word> &step,
                                                        uint32_t tile)
{
    return (step.next_count > 0 && tile == step.next[0]) ||
           (step.next_count > 1 && tile == step.next[1]);
}

/* Sets the column tiles of a unit. */
template <typename semiring>
static __device__ __forceinline__ void
interior_set_unit(const struct interior_step<typename semiring::word> &step, uint32_t unit,
                  struct interior_tile *tile)
{
    const uint32_t first = unit * semiring_packing<semiring>();
    tile->columns[0] = first;
    tile->columns[1] = min(first + semiring_packing<semiring>() - 1, step.tile_count - 1);
}

/* Finds the block's tile in the lower triangle of a symmetric matrix. The tile rows are folded
 * so that the grid is a rectangle: they form bands as high as a unit is wide, and band y shares a
 * folded row with band last - y. A band has one unit more than there are bands above it in the
 * whole matrix. In a group of devices the widths of folded rows differ slightly, and the grid has
 * the largest width. Returns false for a block outside the triangle. */
template <typename semiring>
static __device__ __forceinline__ bool
interior_unfold(const struct interior_step<typename semiring::word> &step, uint32_t folded,
                uint32_t along, uint32_t *row, uint32_t *unit)
{
    constexpr uint32_t high = semiring_packing<semiring>();
    const uint32_t groups = ((step.row_count + high - 1) / high + 1) / 2 * 2;
    const uint32_t below = groups - 1 - folded;
    const uint32_t wide = tile_rows_global(step.rows, below * high) / high + 1;
    const bool lower = along / high < wide;
    const uint32_t group = lower ? below : folded;
    *unit = along / high - (lower ? 0 : wide);
    *row = group * high + along % high;
    return *row < step.row_count && *unit <= tile_rows_global(step.rows, group * high) / high;
}

/* Finds the tile of this thread block in part REST. Returns false if there is none. The grid has
 * one row per tile row (of a symmetric matrix: per folded row) and is as wide as the widest row. */
template <typename semiring>
static __device__ __forceinline__ bool
interior_locate_rest(const struct interior_step<typename semiring::word> &step,
                     struct interior_tile *tile)
{
    uint32_t row = step.first + blockIdx.y;
    uint32_t unit = blockIdx.x;
    if (step.symmetric && !interior_unfold<semiring>(step, row, blockIdx.x, &row, &unit)) {
        return false;
    }
    tile->own_row = row;
    tile->row = tile_rows_global(step.rows, row);
    interior_set_unit<semiring>(step, unit, tile);
    const bool skip0 = interior_is_next(step, tile->columns[0]);
    const bool skip1 = interior_is_next(step, tile->columns[1]);
    const bool skip = interior_is_next(step, tile->row) || (skip0 && skip1);
    tile->columns[0] = skip0 ? tile->columns[1] : tile->columns[0];
    tile->columns[1] = skip1 ? tile->columns[0] : tile->columns[1];
    return !skip;
}

/* Finds a tile in the NEXT part. Returns false if there is none. index counts first the tiles in
 * the rows of the next pivots, then the tiles in their columns. */
template <typename semiring>
static __device__ __forceinline__ bool
interior_locate_next(const struct interior_step<typename semiring::word> &step, uint32_t index,
                     struct interior_tile *tile)
{
    const uint32_t units = interior_units<semiring>(step.tile_count);
    const uint32_t in_rows = step.owns_next ? units * step.next_count : 0;
    if (index < in_rows) {
        tile->row = step.next[index / units];
        tile->own_row = tile_rows_local(step.rows, tile->row);
        interior_set_unit<semiring>(step, index % units, tile);
        return !step.symmetric || tile->columns[0] <= tile->row;
    }
    const uint32_t across = interior_units<semiring>(step.next_count);
    const uint32_t first = (index - in_rows) % across;
    tile->own_row = (index - in_rows) / across;
    tile->row = tile_rows_global(step.rows, tile->own_row);
    tile->columns[0] = step.next[first];
    tile->columns[1] = step.next[across == step.next_count ? first : step.next_count - 1];
    return !interior_is_next(step, tile->row) && (!step.symmetric || tile->row > tile->columns[0]);
}

/* Removes final column tiles from the block's work, and finds its operands and first pivot. Returns
 * false if no tile is left. */
template <typename word>
static __device__ __forceinline__ bool interior_narrow(const struct interior_step<word> &step,
                                                       struct interior_tile *tile)
{
    const uint32_t last = step.pivots[step.pivot_count - 1];
    const bool final0 = tile->columns[0] == last;
    const bool final1 = tile->columns[1] == last;
    if (tile->row == last || (final0 && final1)) {
        return false;
    }
    tile->columns[0] = final0 ? tile->columns[1] : tile->columns[0];
    tile->columns[1] = final1 ? tile->columns[0] : tile->columns[1];
    const uint32_t before = step.pivots[0];
    const bool after =
        tile->row == before || (tile->columns[0] == before && tile->columns[1] == before);
    tile->pivot = step.pivot_count > 1 && after ? 1 : 0;
    tile->left = tile_rows_slot(step.rows, tile->row);
    tile->right[0] = tile_rows_slot(step.rows, tile->columns[0]);
    tile->right[1] = tile_rows_slot(step.rows, tile->columns[1]);
    return true;
}

/* Returns the addresses of one slab of the block's operands. `slab` counts the slabs of all pivot
 * tiles of the step. `tile` is in registers or in shared memory. */
template <typename semiring, typename located>
static __device__ __forceinline__ struct ring_source<typename semiring::word>
interior_source(const struct interior_step<typename semiring::word> &step, const located &tile,
                uint32_t slab) {
    typedef typename semiring::word word;
    constexpr uint32_t right_blocks = operand_right_blocks<semiring>();
    const bool second = slab >= step.slabs[0];
    const struct operand<word> operand = second ? step.operands[1] : step.operands[0];
    const uint32_t offset =
        (second ? slab - step.slabs[0] : slab) * ring_pivots<word>() * OPERAND_WORDS;
    struct ring_source<word> source;
    source.left = operand.left + (uint64_t)tile.left * 2 * OPERAND_BLOCK_WORDS + offset;
    source.right =
        operand.right + (uint64_t)tile.right[0] * right_blocks * OPERAND_BLOCK_WORDS + offset;
    source.next_right = right_blocks == 2
                            ? (uint64_t)OPERAND_BLOCK_WORDS
                            : ((uint64_t)tile.right[1] - tile.right[0]) * OPERAND_BLOCK_WORDS;
    return source;
}

/* Sets home[] to the first word of each of the thread's two quads, in the thread's first row. A
 * warp covers 16 rows x 32 words of each quarter of the tile. */
template <typename semiring>
static __device__ __forceinline__ void
interior_home(struct tile_matrix<typename semiring::element> matrix,
              const volatile struct interior_tile *tile, typename semiring::word *home[2])
{
    typedef typename semiring::word word;
    constexpr uint32_t packing = semiring_packing<semiring>();
    const struct tile_place place = tile_place_of_thread<OPERAND_WORDS>();
    word *const line =
        reinterpret_cast<word *>(matrix.elements) +
        ((uint64_t)tile->own_row * GPU_TILE + place.row) * (matrix.stride / packing) + place.column;
    constexpr uint32_t tile_words = GPU_TILE / packing;
    home[0] = line + (uint64_t)tile->columns[0] * tile_words;
    home[1] = line + (uint64_t)tile->columns[1] * tile_words + (packing == 1 ? OPERAND_WORDS : 0);
}

/* Unroll factor of the inner loop: the largest with which the accumulators stay in registers. */
template <typename semiring> struct interior_unroll {
    static constexpr uint32_t turns = 1;
};

template <> struct interior_unroll<semiring_u2> {
    static constexpr uint32_t turns = RING_BULK ? 4 : 1;
};

/* Loads a thread's words of one pivot: QUADS quads, each from a different piece of the stage. */
template <uint32_t QUADS, typename word>
static __device__ __forceinline__ void interior_fetch(word (&to)[INTERIOR_EDGE], const word *piece)
{
    constexpr uint32_t piece_words = RING_PIECE_BYTES / sizeof(word);
    tile_load_quad(piece, reinterpret_cast<word(&)[QUAD]>(to[0]));
    if (QUADS > 1) {
        tile_load_quad(piece + piece_words, reinterpret_cast<word(&)[QUAD]>(to[QUAD]));
    }
}

/* Relaxes the thread's words over two pivots. The order, row by row, alternates the two instruction
 * sequences of relax_pair. */
template <typename semiring, uint32_t ROW_QUADS, uint32_t WORD_QUADS>
static __device__ __forceinline__ void
interior_relax(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
               const typename semiring::word (&to)[2][INTERIOR_EDGE],
               const typename semiring::word (&from)[2][INTERIOR_EDGE], int32_t one)
{
#pragma unroll
    for (uint32_t i = 0; i < ROW_QUADS * QUAD; i++) {
#pragma unroll
        for (uint32_t j = 0; j < WORD_QUADS * QUAD; j++) {
            tile[i][j] = semiring::relax_pair(tile[i][j], to[0][i], from[0][j], to[1][i],
                                              from[1][j], j, one);
        }
    }
}

/* Relaxes the thread's words over the first `pivots` pivots, an even number, of one slab in shared
 * memory, two at a time. ROW_QUADS or WORD_QUADS = 1: only the first quads of rows or words. */
template <typename semiring, uint32_t ROW_QUADS = 2, uint32_t WORD_QUADS = 2>
static __device__ __forceinline__ void
interior_product(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
                 const typename semiring::word *left, const typename semiring::word *right,
                 uint32_t pivots, int32_t one)
{
    typedef typename semiring::word word;
    constexpr uint32_t turns = interior_unroll<semiring>::turns;
#pragma unroll turns
    for (uint32_t pivot = 0; pivot < pivots; pivot += 2) {
        word to[2][INTERIOR_EDGE];
        word from[2][INTERIOR_EDGE];
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            interior_fetch<ROW_QUADS>(to[k], left + (pivot + k) * OPERAND_WORDS);
            interior_fetch<WORD_QUADS>(from[k], right + (pivot + k) * OPERAND_WORDS);
        }
        interior_relax<semiring, ROW_QUADS, WORD_QUADS>(tile, to, from, one);
    }
}

/* Relaxes the thread's words over the slabs [first, last) as they arrive in the ring. */
template <typename semiring>
static __device__ __forceinline__ void
interior_slabs(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
               const struct interior_step<typename semiring::word> &step,
               const volatile struct interior_tile &work, uint32_t first, uint32_t last,
               unsigned char *ring)
{
    typedef typename semiring::word word;
    constexpr uint32_t piece_words = RING_PIECE_BYTES / sizeof(word);
    const struct tile_place place = tile_place_of_thread<OPERAND_WORDS>();
    for (uint32_t turn = 0; turn < last - first; turn++) {
        ring_await_slab(ring, turn);
        const uint32_t ahead = turn + RING_AHEAD;
        if (ahead < last - first) {
            ring_order(ring, ahead, interior_source<semiring>(step, work, first + ahead));
        } else {
            ring_order_none();
        }
        const word *const stage = reinterpret_cast<const word *>(ring_stage(ring, turn));
        interior_product<semiring>(tile, stage + place.row, stage + 2 * piece_words + place.column,
                                   ring_pivots<word>(), step.one);
        ring_leave(ring, turn);
    }
}

template <typename semiring> static __host__ __device__ constexpr uint32_t interior_blocks(void)
{
    return sizeof(typename semiring::word) == 4 ? 2 : 1;
}

#define INTERIOR_SHARED_BYTES (RING_BYTES + sizeof(struct interior_tile))

template <typename semiring>
__global__ void __launch_bounds__(RING_THREADS, interior_blocks<semiring>())
    interior_kernel(struct tile_matrix<typename semiring::element> matrix,
                    const __grid_constant__ struct interior_step<typename semiring::word> step,
                    enum interior_part part)
{
    typedef typename semiring::word word;
    extern __shared__ __align__(128) unsigned char block_storage[];
    unsigned char *const ring = block_storage;
    /* To save registers, the block's work is in shared memory during the product. */
    volatile struct interior_tile *const kept =
        reinterpret_cast<volatile struct interior_tile *>(block_storage + RING_BYTES);
    struct interior_tile work;
    const bool stopped = tile_stopped(step.control);
    ring_init(ring);
    const bool located = part == INTERIOR_NEXT
                             ? interior_locate_next<semiring>(step, blockIdx.x, &work)
                             : interior_locate_rest<semiring>(step, &work);
    if (!located || !interior_narrow(step, &work)) {
        return;
    }
    const uint32_t first = work.pivot > 0 ? step.slabs[0] : 0;
    uint32_t last = step.slabs[0] + (step.pivot_count > 1 ? step.slabs[1] : 0);
    for (uint32_t turn = 0; turn < RING_AHEAD; turn++) {
        if (turn < last - first && !stopped) {
            ring_order(ring, turn, interior_source<semiring>(step, work, first + turn));
        } else {
            ring_order_none();
        }
    }
    const uint64_t stride = matrix.stride / semiring_packing<semiring>();
    word tile[INTERIOR_EDGE][INTERIOR_EDGE];
    word *home[2];
    interior_home<semiring>(matrix, &work, home);
#pragma unroll
    for (uint32_t i = 0; i < INTERIOR_EDGE; i++) {
        const uint64_t line = (i / QUAD * OPERAND_WORDS + i % QUAD) * stride;
        tile_load_quad(home[0] + line, reinterpret_cast<word(&)[QUAD]>(tile[i][0]));
        tile_load_quad(home[1] + line, reinterpret_cast<word(&)[QUAD]>(tile[i][QUAD]));
    }
    if (threadIdx.x == 0) {
        kept->own_row = work.own_row;
        kept->columns[0] = work.columns[0];
        kept->columns[1] = work.columns[1];
        kept->left = work.left;
        kept->right[0] = work.right[0];
        kept->right[1] = work.right[1];
        kept->ordered = !stopped;
    }
    /* Even in a stopped block, all warps must use every slab whose copies have been issued. */
    if (ring_ready(stopped)) {
        if (!kept->ordered) {
            return;
        }
        last = min(last, first + RING_AHEAD);
    }
    interior_slabs<semiring>(tile, step, *kept, first, last, ring);
    interior_home<semiring>(matrix, kept, home);
#pragma unroll
    for (uint32_t i = 0; i < INTERIOR_EDGE; i++) {
        const uint64_t line = (i / QUAD * OPERAND_WORDS + i % QUAD) * stride;
        tile_store_quad(home[0] + line, tile[i][0], tile[i][1], tile[i][2], tile[i][3]);
        tile_store_quad(home[1] + line, tile[i][4], tile[i][5], tile[i][6], tile[i][7]);
    }
}

/* Returns the number of rows of REST: tile rows, or folded rows if the matrix is symmetric. */
template <typename semiring>
static inline uint32_t interior_rest_rows(const struct interior_step<typename semiring::word> *step)
{
    const uint32_t high = semiring_packing<semiring>();
    return step->symmetric ? ((step->row_count + high - 1) / high + 1) / 2 : step->row_count;
}

/* Returns an upper bound on the blocks in a row of the REST part. In a group of devices, two bands
 * in one folded row are together at most as wide as the matrix plus two deals (tile_rows.h). */
template <typename semiring>
static inline uint32_t
interior_rest_width(const struct interior_step<typename semiring::word> *step)
{
    const uint32_t high = semiring_packing<semiring>();
    const uint32_t folded = interior_rest_rows<semiring>(step);
    const uint32_t members = step->rows.members;
    if (!step->symmetric) {
        return interior_units<semiring>(step->tile_count);
    }
    const uint32_t beyond = members > 1 ? 2 * members * TILE_ROWS_BLOCK / high : 0;
    return (2 * folded * members + 1 + beyond) * high;
}

template <typename semiring>
MUST_CHECK static enum status interior_launch(struct tile_matrix<typename semiring::element> matrix,
                                              struct interior_step<typename semiring::word> step,
                                              enum interior_part part, dim3 grid,
                                              cudaStream_t stream)
{
    if (grid.x == 0 || grid.y == 0) {
        return STATUS_OK;
    }
    interior_kernel<semiring>
        <<<grid, RING_THREADS, INTERIOR_SHARED_BYTES, stream>>>(matrix, step, part);
    return try_translate(cudaGetLastError());
}

template <typename semiring>
MUST_CHECK static enum status
interior_launch_next(struct tile_matrix<typename semiring::element> matrix,
                     struct interior_step<typename semiring::word> step, cudaStream_t stream)
{
    const uint32_t across = interior_units<semiring>(step.tile_count);
    const uint32_t in_rows = step.owns_next ? across * step.next_count : 0;
    const uint32_t in_columns = step.row_count * interior_units<semiring>(step.next_count);
    return interior_launch<semiring>(matrix, step, INTERIOR_NEXT, dim3(in_rows + in_columns),
                                     stream);
}

/* Launches the rows [first, first + count) of the REST part. Their number cannot exceed the grid's
 * limit of 65535, because no device has enough memory for a matrix with so many tile rows. */
template <typename semiring>
MUST_CHECK static enum status
interior_launch_rest(struct tile_matrix<typename semiring::element> matrix,
                     struct interior_step<typename semiring::word> step, uint32_t first,
                     uint32_t count, cudaStream_t stream)
{
    const uint32_t width = interior_rest_width<semiring>(&step);
    step.first = first;
    return interior_launch<semiring>(matrix, step, INTERIOR_REST, dim3(width, count), stream);
}
